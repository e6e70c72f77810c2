#!lua flags=allow-oom
--[[
  Sums of verifications of some subjects on one day, until there are enough.

  KEYS[1]  the sums of a subject, a hash of days, as add-statistics.lua says; then those of others
  ARGV[1]  the day, ARGV[2] how many sums are enough
  Returns  {sums of a subject …}, in the order of KEYS, empty where it has none
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
