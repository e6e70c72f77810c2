#!lua flags=allow-oom
--[[
  Switches a workspace on or off and raises its epoch. Allowed to a server without memory: a tenant must be stoppable at
  any time, and what is written is short.

  KEYS[1]  workspace, a hash
  KEYS[2]  audit log by id, a hash, KEYS[3] its lists, a sorted set
  ARGV[1]  "1" or "0"
  then     entries of the log
  Returns  {"OK"} or {"CORRUPT"}
  Mirrors  KeyStore.setWorkspaceEnabled in packages/core/src/store.ts
]]
-- include whole.lua
-- include raise-epoch.lua
-- include write-log.lua
local raised = raisedEpoch(KEYS[1])
if not raised then return { "CORRUPT" } end
checkLog(KEYS[2], KEYS[3])

redis.call("HSET", KEYS[1], "enabled", ARGV[1], "epoch", raised)
writeLog(2, KEYS[2], KEYS[3])
return { "OK" }
