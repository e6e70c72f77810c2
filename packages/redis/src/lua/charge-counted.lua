#!lua
--[[
  Like charge.lua, for plans that are counted: the same step adds the outcome of each plan to sums.

  KEYS[1]  workspace, as in charge.lua; then for each plan the keys that its letters name, the days that have sums, a sorted set, and for
           each subject its sums, a hash
  ARGV[1]  as in charge.lua. The arguments of the letters are followed by, and their number includes: for each subject its member of the
           days; the additions, in the form of add-statistics.lua, for "charged", for a repeat of that, for "rate-limited", for
           "usage-exceeded", and one more, made beside each of these that is not a repeat and has a shadow without room; number of subjects
  Returns  as charge.lua
  Mirrors  applyCharge in packages/core/src/store/charge.ts and countedByCharge in packages/core/src/store/step-counts.ts
]]
-- include charge-step.lua
-- include count.lua

local function carryOut(nextKey, at)
  local last = at + ARGV[at + 1] - 1
  local sums = readSums(tonumber(ARGV[last]), nextKey + ARGV[at] - 1, last - 6)
  if not sums then return "CORRUPT" end
  local reply = charge(nextKey, at)
  local isRepeat = sub(reply, 1, 7) == "REPEAT "
  local kind = match(reply, "^%S+", isRepeat and 8 or 1)
  local counts
  if kind == "charged" then
    counts = ARGV[last - (isRepeat and 4 or 5)]
  elseif kind == "rate-limited" then
    counts = ARGV[last - 3]
  elseif kind == "usage-exceeded" then
    counts = ARGV[last - 2]
  else
    return reply
  end
  local isShadowed = not isRepeat and find(reply, "!", 1, true)
  addToSums(sums, isShadowed and counts .. ARGV[last - 1] or counts)
  return reply
end
-- include each-plan.lua
