#!lua
--[[
  Ends a hold, or holds it for longer.

  KEYS[1]  workspace, a hash: "revision", and counters that records share
  KEYS[2]  holds, a hash, KEYS[3] their ends, a sorted set
  KEYS[4]  memory of the end of the hold, a string
  ARGV[1]  expected revision, "-" for any, [2] now, Unix epoch ms, [3] "e" to end, "a" to end it alone, "r" to renew, [4] id of the hold
  KEYS[5]  and further, ARGV[5] and further: as hold-keys.lua says, then
           for "e" uses that were used, "-" for all; "1" where all of the limits that are not named was used, else "0"; for each limit that is
           named its name as windows have it, and units; then for "e" whose sums are added to, KEYS: the days that have sums and for
           each subject its sums, its member of the days; " <hour>:EXTRA_USES=", number of subjects, or the number 0 alone;
           for "r" for how long in ms, "-" for as long as at first
  Returns  {"STALE"}, {"UNKNOWN"}, {"CONFLICT"}, {"CORRUPT"}, {"EXPIRED"} and what is known of the hold that has, just now,
           {"RENEWED", holdText}, {"OVER", holdText}, {"UNNAMED", holdText}, {"REPEAT", rememberedEndText},
           {"ENDED", rememberedEndText}, {"REFRESHED", "1", id, holdText, and so on} of others that were over beside the same counters: they
           have ended, and this one is asked for again; or {"MORE", names that ARGV has to have}, with nothing written
  Mirrors  applyHoldStep in packages/core/src/store/settle.ts
]]
local lastKey, lastArg = #KEYS, #ARGV
-- include settle-step.lua
return settle()
