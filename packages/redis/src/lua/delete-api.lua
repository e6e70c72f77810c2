#!lua flags=allow-oom
--[[
  Deletes an API and raises the epoch of its workspace. Its keys stay where they are, and are found no more. Allowed to a
  server without memory: access must be revocable at any time.

  KEYS[1]  APIs by id, a hash
  KEYS[2]  workspace, a hash
  ARGV[1]  id of the API
  Returns  {"NOT_FOUND"}, {"CORRUPT"} or {"DELETED"}
  Mirrors  KeyStore.deleteApi in packages/core/src/store.ts
]]
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then return { "NOT_FOUND" } end
local workspace = redis.call("HMGET", KEYS[2], "enabled", "epoch")
local epoch = workspace[2] or "0"
if #epoch > 15 or not string.find(epoch, "^%d+$") then return { "CORRUPT" } end

redis.call("HDEL", KEYS[1], ARGV[1])
local raised = string.format("%.0f", tonumber(epoch) + 1)
redis.call("HSET", KEYS[2], "enabled", workspace[1] or "1", "epoch", raised)
return { "DELETED" }
