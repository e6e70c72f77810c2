#!lua flags=allow-oom
--[[
  Forgets sums of some subjects and days, until as many as may be are gone; those of one subject and day go together.
  Allowed to a server without memory: it frees some.

  KEYS[1]  days that have sums, a sorted set of "<day> <kind> <id>", each with score 0
  then     for each subject and day its sums, a hash
  ARGV[1]  how many sums may go
  then     for each subject and day its member of KEYS[1]
  Returns  {number of sums forgotten, number of subjects and days looked at}
  Mirrors  KeyStore.deleteStatistics in packages/core/src/store/key-store.ts, its second step
]]
local most, deleted, number, sizes = tonumber(ARGV[1]), 0, 1, {}
redis.call("ZCARD", KEYS[1])
for at = 2, #KEYS do sizes[at] = redis.call("HLEN", KEYS[at]) end

while number < #KEYS and deleted < most do
  number = number + 1
  redis.call("ZREM", KEYS[1], ARGV[number])
  redis.call("DEL", KEYS[number])
  deleted = deleted + sizes[number]
end
return { deleted, number - 1 }
