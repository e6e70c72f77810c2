-- Takes a role or a permission out of its catalog. Keys, arguments and replies are those of delete-role.lua.
local function deleteGrant()
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
end
