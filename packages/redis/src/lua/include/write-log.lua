-- Fails, before anything is written, where the log is not what it has to be.
local function checkLog(changes, changeList)
  redis.call("HEXISTS", changes, "")
  redis.call("ZCARD", changeList)
end

-- Writes entries of the audit log: a count, then for each its id; id of the record that must be among `done` for it to be
-- written, or ""; ids of key and identity, and the actor as key names hold it, or ""; the rest of the record, opaque here.
-- linked: ids of the identities that were linked, by the ids of those that were to be made in their place.
local function writeLog(at, changes, changeList, done, linked)
  for first = at + 1, at + 6 * tonumber(ARGV[at]), 6 do
    local id, onlyWith = ARGV[first], ARGV[first + 1]
    if onlyWith == "" or (done and done[onlyWith]) then
      local keyId, identityId, actor = ARGV[first + 2], ARGV[first + 3], ARGV[first + 4]
      identityId = linked and linked[identityId] or identityId
      redis.call("HSET", changes, id, table.concat({ keyId, identityId, actor, ARGV[first + 5] }, "\n"))
      redis.call("ZADD", changeList, "0", "* " .. id)
      if keyId ~= "" then redis.call("ZADD", changeList, "0", "k " .. keyId .. " " .. id) end
      if identityId ~= "" then redis.call("ZADD", changeList, "0", "i " .. identityId .. " " .. id) end
      if actor ~= "" then redis.call("ZADD", changeList, "0", "a " .. actor .. " " .. id) end
    end
  end
end
