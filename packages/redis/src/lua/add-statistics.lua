#!lua
--[[
  Adds to sums of verifications, and raises the latest use of records that exist.

  KEYS[1]  days that have sums, a sorted set of "<day> <kind> <id>", each with score 0
  then     for each use the hash that its record is in; for each subject and day its sums, a hash
  ARGV[1]  number of uses, then for each the id of its record and Unix epoch ms
  then     for each subject and day its member of KEYS[1], a count of sums, then for each its field and how many to add
  Returns  "OK" or "CORRUPT"
  Mirrors  KeyStore.addStatistics in packages/core/src/store/key-store.ts
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local find, format = string.find, string.format
-- include whole.lua
call("ZCARD", KEYS[1])
local uses = tonumber(ARGV[1])
local at, writes, members = 2, {}, {}
for use = 1, uses do
  local home, id, usedAt = KEYS[use + 1], ARGV[at], ARGV[at + 1]
  at = at + 2
  if call("HEXISTS", home, id) == 1 then
    local latest = whole(call("HGET", home, id .. " t") or "0")
    if not latest then return "CORRUPT" end
    if tonumber(usedAt) > latest then writes[#writes + 1] = { home, id .. " t", usedAt } end
  end
end
for number = uses + 2, #KEYS do
  members[#members + 1] = ARGV[at]
  local last = at + 1 + 2 * tonumber(ARGV[at + 1])
  for first = at + 2, last, 2 do
    local count = whole(call("HGET", KEYS[number], ARGV[first]) or "0")
    if not count then return "CORRUPT" end
    local sum = math.min(MAX, count + tonumber(ARGV[first + 1]))
    writes[#writes + 1] = { KEYS[number], ARGV[first], format("%.0f", sum) }
  end
  at = last + 1
end

for _, write in ipairs(writes) do call("HSET", write[1], write[2], write[3]) end
for _, member in ipairs(members) do call("ZADD", KEYS[1], "0", member) end
return "OK"
