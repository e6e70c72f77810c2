#!lua
--[[
  Like charge.lua, for one plan that is not counted: a hold ends in the same step, before everything else.

  KEYS[1]  and further, ARGV[1] and further: as settle.lua takes them to end a hold and count nothing; then as charge.lua takes them, which
           has the same KEYS[1]; then the number of arguments of settle.lua
  Returns  as charge.lua; or a list, as settle.lua does, if names are missing
  Mirrors  applyHoldStep in packages/core/src/store/settle.ts and applyCharge in packages/core/src/store/charge.ts
]]
local lastKey, lastArg = 0, tonumber(ARGV[#ARGV])
-- include settle-step.lua
-- include charge-step.lua
local ended = settle()
if ended[1] == "MORE" then return ended end
if ended[1] == "CORRUPT" then return "CORRUPT" end
local isDone, reply = pcall(charge, FIRST_NAMED + count, lastArg + 1)
return isDone and reply or "ERROR " .. reply
