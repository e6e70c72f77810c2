#!lua flags=allow-oom
--[[
  Deletes a key with its links, its encrypted secret and its counters, those that it shares with the last that shares them.
  Allowed to a server without memory: it frees some, and a key must be revocable at any time.

  KEYS[1]  record of the key, a hash
  KEYS[2]  long fields of the key, a hash
  KEYS[3]  hashes of keys by id, a hash
  KEYS[4]  keys of all APIs, a sorted set of "<apiId> <keyId>"
  KEYS[5]  keys that have an identity, a sorted set of "<apiId> <identityId> <keyId>"
  KEYS[6]  APIs by id, a hash
  KEYS[7]  uses that do not lie with a key, by the id of their owner, a hash
  KEYS[8]  latest use of keys by id, a hash
  KEYS[9]  counters that the key shares or, where it shares none, those it would share after a rotation, a hash
  KEYS[10] audit log by id, a hash, KEYS[11] its lists, a sorted set
  ARGV[1]  id of the key
  then     entries of the log
  Returns  {"NOT_FOUND"} or {"DELETED"}
  Mirrors  KeyStore.deleteKey in packages/core/src/store.ts
]]
-- include whole.lua
-- include leave-counters.lua
-- include write-log.lua
local key = redis.call("HMGET", KEYS[1], "stamp", "api", "identity", "counters")
if string.match(key[1] or "", "^[^ ]*") ~= ARGV[1] then return { "NOT_FOUND" } end
if redis.call("HEXISTS", KEYS[6], key[2] or "") == 0 then return { "NOT_FOUND" } end
redis.call("HEXISTS", KEYS[3], ARGV[1])
redis.call("ZCARD", KEYS[4])
redis.call("ZCARD", KEYS[5])
for number = 7, 9 do redis.call("HEXISTS", KEYS[number], "") end
checkLog(KEYS[10], KEYS[11])

redis.call("DEL", KEYS[1], KEYS[2])
redis.call("HDEL", KEYS[3], ARGV[1])
redis.call("ZREM", KEYS[4], (key[2] or "") .. " " .. ARGV[1])
if key[3] then redis.call("ZREM", KEYS[5], (key[2] or "") .. " " .. key[3] .. " " .. ARGV[1]) end
redis.call("HDEL", KEYS[8], ARGV[1])
leaveCounters(key[4], KEYS[9], KEYS[7])
writeLog(2, KEYS[10], KEYS[11])
return { "DELETED" }
