#!lua flags=allow-oom
--[[
  Forgets the oldest entries of the audit log. Allowed to a server without memory: it frees some.

  KEYS[1]  lists of the audit log, as list-changes.lua takes them
  KEYS[2]  audit log by id, a hash: ids of key and identity, the actor and the rest, each on a line
  ARGV[1]  where the entries to forget end, as ZRANGEBYLEX takes it
  ARGV[2]  most entries to forget, 1 to 1000
  Returns  {number of entries forgotten, "1" when there are more, else "0"}
  Mirrors  KeyStore.deleteChanges in packages/core/src/store.ts
]]
local most = tonumber(ARGV[2])
redis.call("HEXISTS", KEYS[2], "")
local members = redis.call("ZRANGEBYLEX", KEYS[1], "[* ", ARGV[1], "LIMIT", "0", string.format("%d", most + 1))
local count = math.min(#members, most)
for number = 1, count do
  local id = string.match(members[number], "([^ ]*)$")
  local entry = redis.call("HGET", KEYS[2], id) or ""
  local keyId, identityId, actor = string.match(entry, "^([^\n]*)\n([^\n]*)\n([^\n]*)\n")
  redis.call("ZREM", KEYS[1], members[number])
  if keyId and keyId ~= "" then redis.call("ZREM", KEYS[1], "k " .. keyId .. " " .. id) end
  if identityId and identityId ~= "" then redis.call("ZREM", KEYS[1], "i " .. identityId .. " " .. id) end
  if actor and actor ~= "" then redis.call("ZREM", KEYS[1], "a " .. actor .. " " .. id) end
  redis.call("HDEL", KEYS[2], id)
end
return { string.format("%d", count), #members > most and "1" or "0" }
