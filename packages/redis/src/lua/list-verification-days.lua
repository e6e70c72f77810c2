#!lua flags=allow-oom
--[[
  The first subjects and days that have counters.

  KEYS[1]  days that have counters, a sorted set of "<day> <kind> <id>", each with score 0
  ARGV[1]  where they end, as ZRANGEBYLEX takes it
  ARGV[2]  most members to answer, 1 to 1001
  Returns  {member, member …}
  Mirrors  KeyStore.deleteVerifications in packages/core/src/store.ts, its first step
]]
return redis.call("ZRANGEBYLEX", KEYS[1], "-", ARGV[1], "LIMIT", "0", ARGV[2])
