#!lua
--[[
  Writes a permission, unless its name is taken.

  KEYS[1]  permissions by id, a hash
  KEYS[2]  ids of permissions by name, a hash
  KEYS[3]  audit log by id, a hash, KEYS[4] its lists, a sorted set
  ARGV[1]  id of the permission
  ARGV[2]  its name
  ARGV[3]  the record, opaque here
  then     entries of the log
  Returns  {"INSERTED"} or {"NAME_TAKEN"}
  Mirrors  KeyStore.insertPermission in packages/core/src/store.ts
]]
-- include write-log.lua
redis.call("HEXISTS", KEYS[1], ARGV[1])
if redis.call("HEXISTS", KEYS[2], ARGV[2]) == 1 then return { "NAME_TAKEN" } end
checkLog(KEYS[3], KEYS[4])

redis.call("HSET", KEYS[1], ARGV[1], ARGV[3])
redis.call("HSET", KEYS[2], ARGV[2], ARGV[1])
writeLog(4, KEYS[3], KEYS[4])
return { "INSERTED" }
