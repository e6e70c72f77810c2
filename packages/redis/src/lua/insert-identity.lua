#!lua
--[[
  Writes an identity with its uses, unless its external id is taken.

  KEYS[1]  identities by id, a hash
  KEYS[2]  ids of identities by digest of the external id, a hash
  KEYS[3]  ids of all identities, a sorted set, each with score 0
  KEYS[4]  version and windows of this identity, a hash
  KEYS[5]  uses that do not lie with a key, by the id of their owner, a hash
  KEYS[6]  audit log by id, a hash, KEYS[7] its lists, a sorted set
  ARGV[1]  digest of the external id
  ARGV[2]  id of the identity
  ARGV[3]  the record: version, limits, metadata, refill and the rest, each on a line; all but the first opaque here
  ARGV[4]  its version
  ARGV[5]  its uses, as KEYS[5] holds them
  then     entries of the log
  Returns  {"INSERTED"} or {"EXTERNAL_ID_TAKEN"}
  Mirrors  KeyStore.insertIdentity in packages/core/src/store.ts
]]
-- include write-log.lua
if redis.call("HEXISTS", KEYS[2], ARGV[1]) == 1 then return { "EXTERNAL_ID_TAKEN" } end
redis.call("HEXISTS", KEYS[1], ARGV[2])
redis.call("ZCARD", KEYS[3])
redis.call("HEXISTS", KEYS[4], "version")
redis.call("HEXISTS", KEYS[5], ARGV[2])
checkLog(KEYS[6], KEYS[7])

redis.call("HSET", KEYS[1], ARGV[2], ARGV[3])
redis.call("HSET", KEYS[2], ARGV[1], ARGV[2])
redis.call("ZADD", KEYS[3], "0", ARGV[2])
redis.call("HSET", KEYS[4], "version", ARGV[4])
redis.call("HSET", KEYS[5], ARGV[2], ARGV[5])
writeLog(6, KEYS[6], KEYS[7])
return { "INSERTED" }
