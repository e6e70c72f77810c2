#!lua flags=allow-oom
--[[
  Deletes an API, unless it is protected, and raises the epoch of its workspace. Its keys stay where they are, and are found
  no more. Allowed to a server without memory: access must be revocable at any time.

  KEYS[1]  APIs by id, a hash: version, protection ("1" or "0") and the rest, each on a line
  KEYS[2]  workspace, a hash
  KEYS[3]  ids of all APIs, a sorted set
  KEYS[4]  audit log by id, a hash, KEYS[5] its lists, a sorted set
  ARGV[1]  id of the API
  then     entries of the log
  Returns  {"NOT_FOUND"}, {"PROTECTED"}, {"CORRUPT"} or {"DELETED"}
  Mirrors  KeyStore.deleteApi in packages/core/src/store.ts
]]
-- include whole.lua
-- include raise-epoch.lua
-- include write-log.lua
local stored = redis.call("HGET", KEYS[1], ARGV[1])
if not stored then return { "NOT_FOUND" } end
if string.match(stored, "^%d+\n([^\n]*)") == "1" then return { "PROTECTED" } end
local raised = raisedEpoch(KEYS[2])
if not raised then return { "CORRUPT" } end
redis.call("ZCARD", KEYS[3])
checkLog(KEYS[4], KEYS[5])

redis.call("HDEL", KEYS[1], ARGV[1])
redis.call("ZREM", KEYS[3], ARGV[1])
redis.call("HSET", KEYS[2], "epoch", raised)
writeLog(2, KEYS[4], KEYS[5])
return { "DELETED" }
