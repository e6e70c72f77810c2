#!lua flags=allow-oom
--[[
  Deletes a permission and raises the epoch of its workspace. Records of keys and roles go on naming it, and it is passed
  over where they are read. Allowed to a server without memory: access must be revocable at any time.

  KEYS[1]  permissions by id, a hash
  KEYS[2]  ids of permissions by name, a hash
  KEYS[3]  workspace, a hash
  KEYS[4]  audit log by id, a hash, KEYS[5] its lists, a sorted set
  ARGV[1]  id of the permission
  ARGV[2]  its name, which never changes
  then     entries of the log
  Returns  {"NOT_FOUND"}, {"CORRUPT"} or {"DELETED"}
  Mirrors  KeyStore.deletePermission in packages/core/src/store.ts
]]
-- include whole.lua
-- include raise-epoch.lua
-- include write-log.lua
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then return { "NOT_FOUND" } end
local isItsName = redis.call("HGET", KEYS[2], ARGV[2]) == ARGV[1]
local raised = raisedEpoch(KEYS[3])
if not raised then return { "CORRUPT" } end
checkLog(KEYS[4], KEYS[5])

redis.call("HDEL", KEYS[1], ARGV[1])
if isItsName then redis.call("HDEL", KEYS[2], ARGV[2]) end
redis.call("HSET", KEYS[3], "epoch", raised)
writeLog(3, KEYS[4], KEYS[5])
return { "DELETED" }
