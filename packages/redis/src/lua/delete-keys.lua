#!lua flags=allow-oom
--[[
  Deletes some keys of one API, as delete-key.lua does. Allowed to a server without memory: it frees some. Bounded by its
  caller, so that nobody waits long behind it.

  KEYS[1]  hashes of keys by id, a hash
  KEYS[2]  keys of all APIs, a sorted set of "<apiId> <keyId>"
  KEYS[3]  keys that have an identity, a sorted set of "<apiId> <identityId> <keyId>"
  KEYS[4]  uses that do not lie with a key, by the id of their owner, a hash
  KEYS[5]  latest use of keys by id, a hash
  KEYS[6]  audit log by id, a hash, KEYS[7] its lists, a sorted set
  then     for each key: its record, a hash; its long fields, a hash; its counters as delete-key.lua takes them, a hash
  ARGV[1]  id of the API
  ARGV[2]  a count of keys, and their ids
  then     entries of the log, each to be written only with the deletion of its key
  Returns  {"OK", ids of the keys that were deleted …}
  Mirrors  KeyStore.deleteKeys in packages/core/src/store.ts, its second step
]]
-- include whole.lua
-- include leave-counters.lua
-- include write-log.lua
local count = tonumber(ARGV[2])
local reply, deleted, keys = { "OK" }, {}, {}
redis.call("HEXISTS", KEYS[1], "")
redis.call("ZCARD", KEYS[2])
redis.call("ZCARD", KEYS[3])
redis.call("HEXISTS", KEYS[4], "")
redis.call("HEXISTS", KEYS[5], "")
checkLog(KEYS[6], KEYS[7])
for number = 1, count do
  keys[number] = redis.call("HMGET", KEYS[5 + number * 3], "stamp", "identity", "counters")
  redis.call("HEXISTS", KEYS[7 + number * 3], "sharers")
end

for number = 1, count do
  local id, key = ARGV[2 + number], keys[number]
  -- The entry of the list is what counts: whoever takes it out has deleted the key.
  if redis.call("ZREM", KEYS[2], ARGV[1] .. " " .. id) == 1 then
    deleted[id] = true
    reply[#reply + 1] = id
  end
  redis.call("HDEL", KEYS[1], id)
  -- The hash may have gone to another key since.
  if string.match(key[1] or "", "^[^ ]*") == id then
    if key[2] then redis.call("ZREM", KEYS[3], ARGV[1] .. " " .. key[2] .. " " .. id) end
    redis.call("HDEL", KEYS[5], id)
    leaveCounters(key[3], KEYS[7 + number * 3], KEYS[4])
    redis.call("DEL", KEYS[5 + number * 3], KEYS[6 + number * 3])
  end
end
writeLog(3 + count, KEYS[6], KEYS[7], deleted)
return reply
