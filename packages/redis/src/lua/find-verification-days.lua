#!lua flags=allow-oom
--[[
  The first and the last day of which there are counters, of any subject.

  KEYS[1]  days that have counters, a sorted set of "<day> <kind> <id>", each with score 0
  Returns  {} or {first member, last member}
  Mirrors  KeyStore.getVerifications in packages/core/src/store.ts, its first step where many days are asked for
]]
local first = redis.call("ZRANGEBYLEX", KEYS[1], "-", "+", "LIMIT", "0", "1")
local last = redis.call("ZREVRANGEBYLEX", KEYS[1], "+", "-", "LIMIT", "0", "1")
if not (first[1] and last[1]) then return {} end
return { first[1], last[1] }
