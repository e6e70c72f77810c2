#!lua
--[[
  The atomic step of verifications, one after the other: each confirms what its decision rested on, applies a due refill, then
  takes every window unit and every use, or none.

  KEYS[1]  workspace, a hash: "revision", and counters that records share; then for each plan what its letters name
  ARGV[1]  of the first plan: number of its keys, [2] number of its arguments, these two included, [3] now, Unix epoch ms,
           [4] expected revision, "-" for any, [5] letters, each followed in ARGV by what it names, in this order: for each
           confirmation "r" a record, "R" where uses are drawn from it, KEYS: the hash it is in; its id, what holds.lua takes;
           "c" uses to take, where not 1; "l" nothing, but only look;
           for each limit, a character whose code is 32 more than the number of the confirmation whose counters hold its window,
           or "p" for one that expires by itself, KEYS: that window, a string; " <name of the window>=", units a window or what
           other-limit.lua takes, length of a window in ms, units to take;
           "f" amount of the refill that is due, Unix epoch ms at which it fell due; "F" the latter alone, of one that carries over;
           "h" where some of it is only held, KEYS: holds, their ends; "a" for all or "s" for slots, for how long in ms, for how long
           slots or "-", for each record that the hold is beside, which come first, the letter of its kind as in hold-sums.lua, id of the
           hold, ids of key and identity or "-", and for each of those records most holds that may be open there; "q" KEYS: memory of the request, a string;
           fingerprint of the question, Unix epoch ms until which the result is remembered, and what to remember of the limits
           beside their windows, one line, opaque here; then the same for each further plan
  Returns  for each plan, with a zero byte between: "STALE 0" for the revision, "STALE " and the number of a confirmation,
           "UNSETTLED " or "FULL " and that number, "CONFLICT", "CORRUPT", "REPEAT " and what was remembered, or "charged",
           "rate-limited" or "usage-exceeded" and, each after a space, uses left or "-", <at>:<used> for each limit, with ":<earlier>"
           where it has some and "!" behind a shadow without room, id and end of what is held; or "ERROR " and what Redis said before
           anything of the plan was written
  Mirrors  applyCharge in packages/core/src/store/charge.ts

  Every argument, table and function of this script is paid for with each verification: they are as few as they can be.
]]
-- include charge-step.lua

-- One text: a list of texts costs Redis as much as a tenth of the rest.
local replies, nextKey, at = nil, 2, 1
repeat
  -- What Redis refuses one plan is no concern of the others.
  local isDone, reply = pcall(charge, nextKey, at)
  if not isDone then reply = "ERROR " .. reply end
  replies = replies and replies .. "\0" .. reply or reply
  nextKey, at = nextKey + ARGV[at], at + ARGV[at + 1]
until not ARGV[at]
return replies
