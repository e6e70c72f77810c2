#!lua flags=allow-oom
--[[
  The first days that have sums of verifications, and the last.

  KEYS[1]  days that have sums, a sorted set of "<day> <kind> <id>", each with score 0
  ARGV[1]  where they end, as ZRANGEBYLEX takes it
  ARGV[2]  most members to answer, 1 to 1001
  Returns  {{first member, second member …}, {last member of all} or {}}
  Mirrors  KeyStore.readStatistics and deleteStatistics in packages/core/src/store/key-store.ts, their first step
]]
local call = redis.call
return {
  call("ZRANGEBYLEX", KEYS[1], "-", ARGV[1], "LIMIT", "0", ARGV[2]),
  call("ZREVRANGEBYLEX", KEYS[1], "+", "-", "LIMIT", "0", "1"),
}
