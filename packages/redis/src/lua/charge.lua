#!lua
--[[
  The atomic step of verifications, one plan after the other. Each plan confirms the records that its decision rests on, applies a due
  refill, then takes every window unit and every use, or none.

  KEYS[1]  workspace, a hash: "revision", and counters that records share; then for each plan the keys that its letters name
  ARGV[1]  of the first plan: number of its keys, [2] number of its arguments, including these two, [3] now, Unix epoch ms,
           [4] expected revision, "-" for any, [5] letters. The arguments of the letters follow, and their keys are in KEYS, in this order:
           for each confirmation "r" a record, or "R" if uses are drawn from it, KEYS: the hash it is in; its id, an expectation as in
           holds.lua;
           "c" uses to take, if not 1; "l" takes nothing, but only looks;
           for each limit a character whose code is 32 more than the number of the confirmation whose counters hold its window, or "p" for
           a window that expires by itself, KEYS: that window, a string; " <name of the window>=", units per window or what
           other-limit.lua takes, length of a window in ms, units to take;
           "f" amount of the due refill, Unix epoch ms at which it fell due; "F" only the latter, for a refill that carries over;
           "h" if some of it is only held, KEYS: holds, their ends; "a" for all or "s" for slots, for how long in ms, for how long slots in
           ms or "-", the letters of the kinds of the records that the hold is beside, as in hold-sums.lua (these are the first records),
           id of the hold, ids of key and identity or "-", and for each of those records the most holds that may be open beside it;
           "q" KEYS: memory of the request, a string; fingerprint of the question, Unix epoch ms until which the result is remembered, and
           what to remember of the limits besides their windows, one line, opaque here;
           then the same for each further plan
  Returns  for each plan, separated by zero bytes: "STALE 0" for the revision, "STALE " and the number of a confirmation,
           "UNSETTLED " or "FULL " and that number, "CONFLICT", "CORRUPT", "REPEAT " and the remembered answer; or "charged",
           "rate-limited" or "usage-exceeded" and, each after a space, uses left or "-", <at>:<used> for each limit, with ":<earlier>"
           if it has any and "!" after a shadow without room, id and end of the hold; or "ERROR " and the error of Redis, before anything
           of the plan was written
  Mirrors  applyCharge in packages/core/src/store/charge.ts

  Each verification pays for every argument, table and function of this script: there are as few as possible.
]]
-- include charge-step.lua
local carryOut = charge
-- include each-plan.lua
