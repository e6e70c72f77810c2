#!lua
--[[
  Writes an API.

  KEYS[1]  APIs by id, a hash: version, protection ("1" or "0") and the rest, which is opaque here, each on a line
  KEYS[2]  ids of all APIs, a sorted set, each with score 0
  KEYS[3]  audit log by id, a hash, KEYS[4] its lists, a sorted set
  ARGV[1]  id of the API
  ARGV[2]  the record
  then     entries of the log
  Returns  {"OK"} or {"ID_TAKEN"}
  Mirrors  KeyStore.insertApi in packages/core/src/store.ts
]]
-- include write-log.lua
redis.call("ZCARD", KEYS[2])
checkLog(KEYS[3], KEYS[4])
if redis.call("HSETNX", KEYS[1], ARGV[1], ARGV[2]) == 0 then return { "ID_TAKEN" } end
redis.call("ZADD", KEYS[2], "0", ARGV[1])
writeLog(3, KEYS[3], KEYS[4])
return { "OK" }
