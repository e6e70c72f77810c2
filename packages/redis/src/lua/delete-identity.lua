#!lua flags=allow-oom
--[[
  Deletes an identity with its counters. Records of keys go on naming it, and it is passed over where they are read: its id
  never comes back. Allowed to a server without memory: it frees some.

  KEYS[1]  identities by id, a hash
  KEYS[2]  ids of identities by digest of the external id, a hash
  KEYS[3]  ids of all identities, a sorted set
  KEYS[4]  version and windows of this identity, a hash
  KEYS[5]  uses that do not lie with a key, by the id of their owner, a hash
  KEYS[6]  audit log by id, a hash, KEYS[7] its lists, a sorted set
  ARGV[1]  id of the identity
  ARGV[2]  digest of its external id, which never changes
  then     entries of the log
  Returns  {"NOT_FOUND"} or {"DELETED"}
  Mirrors  KeyStore.deleteIdentity in packages/core/src/store.ts
]]
-- include write-log.lua
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then return { "NOT_FOUND" } end
local isItsName = redis.call("HGET", KEYS[2], ARGV[2]) == ARGV[1]
redis.call("ZCARD", KEYS[3])
redis.call("HEXISTS", KEYS[5], ARGV[1])
checkLog(KEYS[6], KEYS[7])

redis.call("HDEL", KEYS[1], ARGV[1])
if isItsName then redis.call("HDEL", KEYS[2], ARGV[2]) end
redis.call("ZREM", KEYS[3], ARGV[1])
redis.call("DEL", KEYS[4])
redis.call("HDEL", KEYS[5], ARGV[1])
writeLog(3, KEYS[6], KEYS[7])
return { "DELETED" }
