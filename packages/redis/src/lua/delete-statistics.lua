#!lua flags=allow-oom
--[[
  Deletes sums of some subjects and days, until the limit is reached; those of one subject and day go together.
  A server that is out of memory runs it: it frees some.

  KEYS[1]  days that have sums, a sorted set of "<day> <subject>", each with score 0
  then     for each of them the sums of its subject, a hash of days, as in add-statistics.lua
  ARGV[1]  how many sums may go, then the members of KEYS[1]
  Returns  {number of sums deleted, number of members visited}
  Mirrors  KeyStore.deleteStatistics in packages/core/src/store/key-store.ts, its second step
]]
local most, deleted, number, sums = tonumber(ARGV[1]), 0, 1, {}
redis.call("ZCARD", KEYS[1])
for at = 2, #KEYS do sums[at] = redis.call("HGET", KEYS[at], string.sub(ARGV[at], 1, 9)) or "" end

while number < #KEYS and deleted < most do
  number = number + 1
  redis.call("ZREM", KEYS[1], ARGV[number])
  redis.call("HDEL", KEYS[number], string.sub(ARGV[number], 1, 9))
  local _, count = string.gsub(sums[number], "=", "")
  deleted = deleted + count
end
return { deleted, number - 1 }
