#!lua flags=allow-oom
--[[
  Switches a workspace on or off and raises its epoch. Allowed to a server without memory: a tenant must be stoppable at
  any time, and the hash is three short fields.

  KEYS[1]  workspace, a hash
  ARGV[1]  "1" or "0"
  Returns  {"OK"} or {"CORRUPT"}
  Mirrors  KeyStore.setWorkspaceEnabled in packages/core/src/store.ts
]]
local epoch = redis.call("HGET", KEYS[1], "epoch") or "0"
if #epoch > 15 or not string.find(epoch, "^%d+$") then return { "CORRUPT" } end
redis.call("HSET", KEYS[1], "enabled", ARGV[1], "epoch", string.format("%.0f", tonumber(epoch) + 1))
return { "OK" }
