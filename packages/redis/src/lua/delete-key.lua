#!lua flags=allow-oom
--[[
  Deletes a key with its counters, its links and its encrypted secret. Allowed to a server without memory: it frees some,
  and a key must be revocable at any time.

  KEYS[1]  record of the key, a hash
  KEYS[2]  long fields of the key, a hash
  KEYS[3]  hashes of keys by id, a hash
  KEYS[4]  keys of all APIs, a sorted set of "<apiId> <keyId>"
  KEYS[5]  keys that have an identity, a sorted set of "<apiId> <identityId> <keyId>"
  KEYS[6]  APIs by id, a hash
  ARGV[1]  id of the key
  Returns  {"NOT_FOUND"} or {"DELETED"}
  Mirrors  KeyStore.deleteKey in packages/core/src/store.ts
]]
local key = redis.call("HMGET", KEYS[1], "stamp", "api", "identity")
if string.match(key[1] or "", "^[^ ]*") ~= ARGV[1] then return { "NOT_FOUND" } end
if redis.call("HEXISTS", KEYS[6], key[2] or "") == 0 then return { "NOT_FOUND" } end
redis.call("HEXISTS", KEYS[3], ARGV[1])
redis.call("ZCARD", KEYS[4])
redis.call("ZCARD", KEYS[5])

redis.call("DEL", KEYS[1], KEYS[2])
redis.call("HDEL", KEYS[3], ARGV[1])
redis.call("ZREM", KEYS[4], (key[2] or "") .. " " .. ARGV[1])
if key[3] then redis.call("ZREM", KEYS[5], (key[2] or "") .. " " .. key[3] .. " " .. ARGV[1]) end
return { "DELETED" }
