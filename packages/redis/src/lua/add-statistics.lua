#!lua
--[[
  Adds to sums of verifications, and raises the latest use of existing records.

  KEYS[1]  days that have sums, a sorted set of "<day> <subject>", each with score 0
  then     for each sum the sums of its subject, a hash; for each use the hash that its record is in
  ARGV[1]  number of sums, then for each its member of KEYS[1], " <hour>:<code>=", the number to add
  then     for each use the id of its record and Unix epoch ms
  Returns  "OK" or "CORRUPT"
  Mirrors  KeyStore.addStatistics in packages/core/src/store/key-store.ts

  The sums of a subject have one field for each day, named by its 9 digits: " <hour>:<code>=<count>" for each sum.
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local find, match, sub, format = string.find, string.match, string.sub, string.format
-- include whole.lua
local firstUse, at = ARGV[1] + 2, 2
local writes, days = {}, {}
call("ZCARD", KEYS[1])
for number = 2, firstUse - 1 do
  local key, member, name, added = KEYS[number], ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local write = days[member]
  if not write then
    local day = sub(member, 1, 9)
    local stored = call("HGET", key, day)
    write = { key, day, stored or "", not stored and member }
    if stored and string.gsub(stored, " %d+:[A-Z_]+=%d+", "") ~= "" then return "CORRUPT" end
    days[member], writes[#writes + 1] = write, write
  end
  local text = write[3]
  local _, stop = find(text, name, 1, true)
  local known = stop and match(text, "^%d+", stop + 1) or "0"
  local count = whole(known)
  if not count then return "CORRUPT" end
  local sum = format("%.0f", math.min(MAX, count + added))
  write[3] = stop and sub(text, 1, stop) .. sum .. sub(text, stop + #known + 1) or text .. name .. sum
  at = at + 3
end
for number = firstUse, #KEYS do
  local key, id, usedAt = KEYS[number], ARGV[at], ARGV[at + 1]
  local stored = call("HMGET", key, id, id .. " t")
  local latest = whole(stored[2] or "0")
  if not latest then return "CORRUPT" end
  if stored[1] and tonumber(usedAt) > latest then writes[#writes + 1] = { key, id .. " t", usedAt } end
  at = at + 2
end

for _, write in ipairs(writes) do
  call("HSET", write[1], write[2], write[3])
  if write[4] then call("ZADD", KEYS[1], "0", write[4]) end
end
return "OK"
