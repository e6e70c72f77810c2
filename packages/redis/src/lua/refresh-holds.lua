#!lua
--[[
  Ends the holds that are over beside the counters of a record, and applies a due refill to the counters.

  KEYS[1]  workspace, a hash: "revision", and counters that records share
  KEYS[2]  holds, a hash, KEYS[3] their ends, a sorted set
  KEYS[4]  the hash that the record is in
  ARGV[1]  expected revision, "-" for any, [2] now, Unix epoch ms, [3] the letter of the kind as in hold-sums.lua, [4] id of the record
  KEYS[5]  and further, ARGV[5] and further: as in hold-keys.lua, then
           the refill as in apply-refill.lua
  Returns  {"STALE"}, {"CORRUPT"}, {"REFRESHED", "1" if there are more, id, holdText, and so on}, or {"MORE", names that ARGV must have},
           with nothing written
  Mirrors  applyHoldStep in packages/core/src/store/settle.ts
]]
-- include hold-keys.lua
-- include stored-holds.lua
-- include counters-of-record.lua
-- include apply-refill.lua
-- include give-back.lua
-- include write-counters.lua
-- include end-over.lua

local owner = countersOfRecord()
if isCorrupt then return { "CORRUPT" } end
if not owner then return { "REFRESHED", "0" } end
local owners, oldest, amount = owner.name and { owner } or NOTHING, nil, sub(ARGV[at], 1, 1) ~= "-"
local over, gone, hasMore = findOver(owners)
if owner.name and amount then
  for number, entry in ipairs(call("ZRANGEBYLEX", KEYS[3], rangeOf(owner.name))) do
    local text = number > #over + #gone and call("HGET", KEYS[2], sub(entry, #owner.name + 18))
    local names, numbers = match(text or "", "^(%S+) %S+ %S+ %d+ %d+ %d+ %d+ %S+ ([%d,]+)")
    local nextNumber = gmatch(numbers or "", "%d+")
    for name in gmatch(names or "", "[^,]+") do
      local own = read(nextNumber())
      if name == owner.name and own then oldest = math.min(oldest or own, own) end
    end
  end
end
if isCorrupt then return { "CORRUPT" } end
if #missing > 1 then return missing end
local reply = endOver(owners, over, gone, hasMore)
if amount then
  owner.remaining, owner.refilledAt, owner.lastRefillAt =
    applyRefill(ARGV[at], owner.remaining, owner.refilledAt, owner.lastRefillAt, owner.sums, oldest or 0)
  owner.isMoved = true
end
writeAll()
return reply
