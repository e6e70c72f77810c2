#!lua
--[[
  Adds to counters of verifications, and raises the latest use of keys that exist.

  KEYS[1]  days that have counters, a sorted set of "<day> <kind> <id>", each with score 0
  KEYS[2]  hashes of keys by id, a hash
  KEYS[3]  latest use of keys by id, a hash
  then     for each subject and day its counters, a hash
  ARGV[1]  a count of keys, then for each its id and Unix epoch ms of its latest use
  then     for each subject and day: its member of KEYS[1], a count of counters, then for each its field and how many to add
  Returns  {"OK"} or {"CORRUPT"}
  Mirrors  KeyStore.addVerifications in packages/core/src/store.ts
]]
-- include whole.lua
redis.call("ZCARD", KEYS[1])
redis.call("HEXISTS", KEYS[2], "")
redis.call("HEXISTS", KEYS[3], "")
local at = 2 + 2 * tonumber(ARGV[1])
local used, sums, members = {}, {}, {}
for first = 2, at - 1, 2 do
  local keyId, usedAt = ARGV[first], ARGV[first + 1]
  if redis.call("HEXISTS", KEYS[2], keyId) == 1 then
    local latest = whole(redis.call("HGET", KEYS[3], keyId) or "0")
    if not latest then return { "CORRUPT" } end
    if tonumber(usedAt) > latest then used[keyId] = usedAt end
  end
end
for number = 4, #KEYS do
  members[number], sums[number] = ARGV[at], {}
  for first = at + 2, at + 2 * tonumber(ARGV[at + 1]), 2 do
    local count = whole(redis.call("HGET", KEYS[number], ARGV[first]) or "0")
    if not count then return { "CORRUPT" } end
    sums[number][ARGV[first]] = digits(math.min(MAX, count + tonumber(ARGV[first + 1])))
  end
  at = at + 2 + 2 * tonumber(ARGV[at + 1])
end

for keyId, usedAt in pairs(used) do redis.call("HSET", KEYS[3], keyId, usedAt) end
for number = 4, #KEYS do
  redis.call("ZADD", KEYS[1], "0", members[number])
  for field, sum in pairs(sums[number]) do redis.call("HSET", KEYS[number], field, sum) end
end
return { "OK" }
