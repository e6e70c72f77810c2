#!lua
--[[
  Makes exactly these holds the holds beside the counters of a record.

  KEYS[1]  workspace, a hash: "revision", and counters that records share
  KEYS[2]  holds, a hash, KEYS[3] their ends, a sorted set
  KEYS[4]  the hash that the record is in
  ARGV[1]  expected revision, "-" for any, [2] now, Unix epoch ms, [3] the letter of the kind as in hold-sums.lua, [4] id of the record
  KEYS[5]  and further, ARGV[5] and further: as in hold-keys.lua, then
           the sums or "-" for none, then for each hold its id and holdText
  Returns  {"STALE"}, {"CORRUPT"} or {"RESTORED"}
  Mirrors  applyHoldStep in packages/core/src/store/settle.ts
]]
-- include hold-keys.lua
-- include stored-holds.lua
-- include counters-of-record.lua
-- include detach-hold.lua
-- include write-counters.lua

local owner, placeOfRecord = countersOfRecord()
if isCorrupt then return { "CORRUPT" } end
if not owner then return { "RESTORED" } end
local sums, wanted = ARGV[at], {}
local lastName = whole(call("HGET", KEYS[1], "holds") or "0")
if not lastName then return { "CORRUPT" } end
local name = owner.name or format("%.0f", lastName + 1)
for number = at + 1, sums ~= "-" and #ARGV or 0, 2 do
  wanted[ARGV[number]] = parseHold(ARGV[number + 1])
end
owner.sums = sumsOf(" =" .. name .. "/" .. sums)
if isCorrupt or not owner.sums and sums ~= "-" then return { "CORRUPT" } end
local from, to = rangeOf(name)
for _, entry in ipairs(call("ZRANGEBYLEX", KEYS[3], from, to)) do
  local other = sub(entry, #name + 18)
  if not wanted[other] then detachHold(name, entry) end
end
for number = at + 1, sums ~= "-" and #ARGV or 0, 2 do
  local hold, before = wanted[ARGV[number]], call("HGET", KEYS[2], ARGV[number])
  local names = { "-", match(hold.head, " (%S+) ") ~= "-" and "-" or nil }
  local oldNames, oldText = match(before or "", "^(%S+) (.*)$")
  local place = 1
  for old in gmatch(oldNames or "", "[^,]+") do
    names[place], place = old, place + 1
  end
  hold.id, names[ARGV[3] == "k" and 1 or 2] = ARGV[number], name
  local text = table.concat(names, ",") .. " " .. ARGV[number + 1]
  -- A live copy restores all holds of a record again and again, of which few have changed.
  local old = text ~= before and oldText and parseHold(oldText)
  for _, each in ipairs(names) do
    if old and old.expiresAt then
      old.id = hold.id
      call("ZREM", KEYS[3], entryOf(each, old))
    end
    if each ~= "-" then call("ZADD", KEYS[3], "0", entryOf(each, hold)) end
  end
  if text ~= before then call("HSET", KEYS[2], hold.id, text) end
end
owner.isMoved = true
if owner.sums and not owner.name then
  call("HSET", KEYS[1], "holds", name)
  call("HSET", KEYS[2], " " .. name, placeOfRecord)
end
writeAll()
return { "RESTORED" }
