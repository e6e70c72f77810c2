-- Takes one key from those that share counters; these go with the last of them. A damaged number of sharers keeps them:
-- whatever else is wrong, a key can be deleted.
local function leaveCounters(countersId, counters, uses)
  if not countersId then return end
  local sharers = whole(redis.call("HGET", counters, "sharers"))
  if sharers and sharers > 1 then
    redis.call("HSET", counters, "sharers", digits(sharers - 1))
  elseif sharers then
    redis.call("DEL", counters)
    redis.call("HDEL", uses, countersId)
  end
end
