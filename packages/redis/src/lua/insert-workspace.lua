#!lua
--[[
  Writes a workspace, unless it was written or switched before. Its epoch does not go back where something was in it.

  KEYS[1]  workspace, a hash; "enabled" is there once it was written or switched
  KEYS[2]  ids of all APIs, a sorted set
  KEYS[3]  audit log by id, a hash, KEYS[4] its lists, a sorted set
  ARGV[1]  "1" or "0"
  ARGV[2]  epoch
  ARGV[3]  name, opaque here, or ""
  then     entries of the log
  Returns  {"INSERTED"}, {"TAKEN"} or {"CORRUPT"}
  Mirrors  KeyStore.insertWorkspace in packages/core/src/store.ts
]]
-- include whole.lua
-- include raise-epoch.lua
-- include write-log.lua
if redis.call("HEXISTS", KEYS[1], "enabled") == 1 then return { "TAKEN" } end
local isUntouched = redis.call("HEXISTS", KEYS[1], "epoch") == 0 and redis.call("ZCARD", KEYS[2]) == 0
local raised = raisedEpoch(KEYS[1])
if not raised then return { "CORRUPT" } end
checkLog(KEYS[3], KEYS[4])

local epoch = isUntouched and ARGV[2] or digits(math.max(tonumber(ARGV[2]), tonumber(raised)))
redis.call("HSET", KEYS[1], "enabled", ARGV[1], "epoch", epoch)
if ARGV[3] ~= "" then redis.call("HSET", KEYS[1], "name", ARGV[3]) end
writeLog(4, KEYS[3], KEYS[4])
return { "INSERTED" }
