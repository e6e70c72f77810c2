#!lua flags=allow-oom
--[[
  Sums of verifications of a subject.

  KEYS[1]  these sums, a hash of days, as in add-statistics.lua
  ARGV[1]  first day wanted, ARGV[2] last day wanted
  Returns  {sums of a day …}, in no order
  Mirrors  KeyStore.readStatistics in packages/core/src/store/key-store.ts
]]
local reply, days = {}, redis.call("HGETALL", KEYS[1])
for at = 1, #days, 2 do
  if days[at] >= ARGV[1] and days[at] <= ARGV[2] then reply[#reply + 1] = days[at + 1] end
end
return reply
