#!lua flags=allow-oom
--[[
  Deletes sums of some subjects, until the limit is reached; those of one subject and day go together.
  A server that is out of memory runs it: it frees some.

  KEYS[1]  days that have sums, a sorted set of "<day> <subject>", each with score 0
  then     the sums of each subject, a hash of days, as in add-statistics.lua
  ARGV[1]  how many sums may go, then the first day that stays, then the subjects
  Returns  {number of sums deleted, 1 if there are more}
  Mirrors  KeyStore.deleteStatistics in packages/core/src/store/key-store.ts, with `of`
]]
local most, before, deleted, days = tonumber(ARGV[1]), ARGV[2], 0, {}
redis.call("ZCARD", KEYS[1])
for at = 2, #KEYS do days[at] = redis.call("HGETALL", KEYS[at]) end

for at = 2, #KEYS do
  for field = 1, #days[at], 2 do
    local day = days[at][field]
    if day < before then
      if deleted >= most then return { deleted, 1 } end
      redis.call("ZREM", KEYS[1], day .. " " .. ARGV[at + 1])
      redis.call("HDEL", KEYS[at], day)
      local _, count = string.gsub(days[at][field + 1], "=", "")
      deleted = deleted + count
    end
  end
end
return { deleted, 0 }
