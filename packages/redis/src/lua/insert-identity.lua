#!lua
--[[
  Writes an identity, unless its external id is taken.

  KEYS[1]  identities by id, a hash
  KEYS[2]  ids of identities by digest of the external id, a hash
  KEYS[3]  ids of all identities, a sorted set, each with score 0
  KEYS[4]  version and windows of this identity, a hash
  ARGV[1]  digest of the external id
  ARGV[2]  id of the identity
  ARGV[3]  the record: version, limits, metadata and the rest, each on a line; the last three opaque here
  ARGV[4]  its version
  Returns  {"INSERTED"} or {"EXTERNAL_ID_TAKEN"}
  Mirrors  KeyStore.insertIdentity in packages/core/src/store.ts
]]
if redis.call("HEXISTS", KEYS[2], ARGV[1]) == 1 then return { "EXTERNAL_ID_TAKEN" } end
redis.call("HEXISTS", KEYS[1], ARGV[2])
redis.call("ZCARD", KEYS[3])
redis.call("HEXISTS", KEYS[4], "version")

redis.call("HSET", KEYS[1], ARGV[2], ARGV[3])
redis.call("HSET", KEYS[2], ARGV[1], ARGV[2])
redis.call("ZADD", KEYS[3], "0", ARGV[2])
redis.call("HSET", KEYS[4], "version", ARGV[4])
return { "INSERTED" }
