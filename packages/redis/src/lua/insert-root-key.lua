#!lua
--[[
  Writes the record of a root key. The second and deciding step: the pointer to its workspace was written before.

  KEYS[1]  root keys by hash of the secret, a hash
  KEYS[2]  all root keys, a sorted set of "<id> <hash>", each with score 0
  KEYS[3]  audit log by id, a hash, KEYS[4] its lists, a sorted set
  ARGV[1]  hash of the secret
  ARGV[2]  id of the root key
  ARGV[3]  the record, opaque here
  then     entries of the log
  Returns  {"OK"}
  Mirrors  KeyStore.insertRootKey in packages/core/src/store.ts
]]
-- include write-log.lua
redis.call("HEXISTS", KEYS[1], ARGV[1])
redis.call("ZCARD", KEYS[2])
checkLog(KEYS[3], KEYS[4])

redis.call("HSET", KEYS[1], ARGV[1], ARGV[3])
redis.call("ZADD", KEYS[2], "0", ARGV[2] .. " " .. ARGV[1])
writeLog(4, KEYS[3], KEYS[4])
return { "OK" }
