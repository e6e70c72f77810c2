#!lua
--[[
  Ends or renews a hold.

  KEYS[1]  workspace, a hash: "revision", and counters that records share
  KEYS[2]  holds, a hash, KEYS[3] their ends, a sorted set
  KEYS[4]  memory of the end of the hold, a string
  ARGV[1]  expected revision, "-" for any, [2] now, Unix epoch ms, [3] "e" to end, "a" to end it alone, "r" to renew, [4] id of the hold
  KEYS[5]  and further, ARGV[5] and further: as in hold-keys.lua, then
           for "e" uses that were used, "-" for all; "1" if everything held of limits that are not named was used, else "0"; for each
           named limit its name in the form of windows, and units; then for an "e" that is counted, KEYS: the days that have sums and for
           each subject its sums; its member of the days; " <hour>:EXTRA_USES=", number of subjects, or only the number 0 if not counted;
           for "r" for how long in ms, "-" for as long as at first
  Returns  {"STALE"}, {"UNKNOWN"}, {"CONFLICT"}, {"CORRUPT"}, {"EXPIRED"} with holdText if it expired just now,
           {"RENEWED", holdText}, {"OVER", holdText}, {"UNNAMED", holdText}, {"REPEAT", rememberedEndText},
           {"ENDED", rememberedEndText}, {"REFRESHED", "1", id, holdText, and so on} of others beside the same counters that were over: they
           have ended, and the caller asks again for this one; or {"MORE", names that ARGV must have}, with nothing written
  Mirrors  applyHoldStep in packages/core/src/store/settle.ts
]]
local lastKey, lastArg = #KEYS, #ARGV
-- include settle-step.lua
return settle()
