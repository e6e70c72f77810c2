#!lua flags=allow-oom
--[[
  Sums of verifications of some subjects on one day, until there are enough.

  KEYS[1]  and further, the sums of each subject, a hash of days, as in add-statistics.lua
  ARGV[1]  the day, ARGV[2] how many sums are enough
  Returns  {sums of a subject …}, in the order of KEYS, empty for a subject that has none
  Mirrors  KeyStore.pageStatistics in packages/core/src/store/key-store.ts, its second step
]]
local reply, count, number = {}, 0, 0
while number < #KEYS and count < tonumber(ARGV[2]) do
  number = number + 1
  reply[number] = redis.call("HGET", KEYS[number], ARGV[1]) or ""
  local _, sums = string.gsub(reply[number], "=", "")
  count = count + sums
end
return reply
