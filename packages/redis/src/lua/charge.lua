#!lua
--[[
  The atomic step of a verification: settles a due refill, then takes every window slot and every use, or none.

  KEYS[1]   record of the key, a hash
  KEYS[2]   workspace, a hash
  then      the counters of the identity, a hash, where ARGV[3] names one; the memory of the request, a string, where
            ARGV[11] is given; the window of each limit "a", a string, in their order
  ARGV[1]   id of the key
  ARGV[2]   expected version of the key
  ARGV[3]   id of the identity, or ""
  ARGV[4]   expected version of the identity, or ""
  ARGV[5]   expected epoch of the workspace
  ARGV[6]   now, Unix epoch ms
  ARGV[7]   "take" or "look"
  ARGV[8]   uses to spend, 0 or more
  ARGV[9]   amount of the refill that is due, or ""
  ARGV[10]  Unix epoch ms at which it fell due, or ""
  ARGV[11]  fingerprint of the question, or ""
  ARGV[12]  Unix epoch ms until which the result is remembered, or ""
  ARGV[13]  what to remember of the limits beside their windows; one line, opaque here
  then      for each limit: whose it is ("k" key, "i" identity, "a" made up by one request); the field of its window
            ("" for "a"); units a window; length of a window in ms; units to take
  Returns   {"STALE"}, {"CONFLICT"}, {"CORRUPT"}, {"REPEAT", what was remembered}, or
            {"CHARGED" | "RATE_LIMITED" | "USAGE_EXCEEDED", uses left or "", then startedAt and used for each limit}
  Mirrors   applyCharge in packages/core/src/charge.ts
]]
local MAX = 9007199254740991
local KEPT_AFTER_END_MS = 86400000
local FIRST_LIMIT = 14

-- Nil for anything but a whole number from 0 to 2^53 - 1 in decimal digits.
local function whole(text)
  if not text or #text > 16 or not string.find(text, "^%d+$") then return nil end
  local number = tonumber(text)
  if number <= MAX then return number end
  return nil
end

local function digits(number) return string.format("%.0f", number) end

local now = tonumber(ARGV[6])
local cost = tonumber(ARGV[8])

-- 1. What the decision rested on.
local fields = { "id", "version", "identity", "remaining", "refilledAt" }
local sharedFields = { "version" }
for at = FIRST_LIMIT, #ARGV, 5 do
  if ARGV[at] == "k" then fields[#fields + 1] = ARGV[at + 1] end
  if ARGV[at] == "i" then sharedFields[#sharedFields + 1] = ARGV[at + 1] end
end
local key = redis.call("HMGET", KEYS[1], unpack(fields))
if key[1] ~= ARGV[1] or key[2] ~= ARGV[2] or (key[3] or "") ~= ARGV[3] then return { "STALE" } end
if (redis.call("HGET", KEYS[2], "epoch") or "0") ~= ARGV[5] then return { "STALE" } end
local nextKey = 3
local shared = { false }
if ARGV[3] ~= "" then
  shared = redis.call("HMGET", KEYS[3], unpack(sharedFields))
  nextKey = 4
end
if (shared[1] or "") ~= ARGV[4] then return { "STALE" } end

-- 2. The repeat of a request.
local memory
if ARGV[11] ~= "" then
  memory = KEYS[nextKey]
  nextKey = nextKey + 1
  local known = redis.call("GET", memory)
  if known then
    local fingerprint, forgottenAt, result = string.match(known, "^([^\n]*)\n(%d+)\n(.*)$")
    forgottenAt = whole(forgottenAt)
    if not forgottenAt then return { "CORRUPT" } end
    if forgottenAt > now then
      if fingerprint ~= ARGV[11] then return { "CONFLICT" } end
      return { "REPEAT", result }
    end
  end
end

-- 3. The uses, with a due refill settled. Nil stands for unlimited.
local remaining
local refilledAt = whole(key[5])
if not refilledAt then return { "CORRUPT" } end
local isSettled = false
if key[4] then
  remaining = whole(key[4])
  if not remaining then return { "CORRUPT" } end
  if ARGV[9] ~= "" and refilledAt < tonumber(ARGV[10]) then
    remaining = math.max(remaining, tonumber(ARGV[9]))
    refilledAt = tonumber(ARGV[10])
    isSettled = true
  end
end

-- 4. The windows that count now.
local starts, useds, homes = {}, {}, {}
local isLimited = false
local nextField, nextSharedField = 6, 2
for at = FIRST_LIMIT, #ARGV, 5 do
  local number = #starts + 1
  local owner, durationMs = ARGV[at], tonumber(ARGV[at + 3])
  local stored
  if owner == "k" then
    stored = key[nextField]
    nextField = nextField + 1
  elseif owner == "i" then
    stored = shared[nextSharedField]
    nextSharedField = nextSharedField + 1
  else
    homes[number] = KEYS[nextKey]
    stored = redis.call("GET", KEYS[nextKey])
    nextKey = nextKey + 1
  end
  -- Not the operator %: it divides, and is wrong by a whole window for some instants beyond 2^52.
  local startedAt, used = now - math.fmod(now, durationMs), 0
  if stored then
    local storedStart, storedUsed = string.match(stored, "^(%d+):(%d+)$")
    storedStart, storedUsed = whole(storedStart), whole(storedUsed)
    if not storedStart or not storedUsed then return { "CORRUPT" } end
    if storedStart >= startedAt then startedAt, used = storedStart, storedUsed end
  end
  starts[number], useds[number] = startedAt, used
  if not (used + tonumber(ARGV[at + 4]) <= tonumber(ARGV[at + 2])) then isLimited = true end
end

-- 5. The decision. Limits refuse before uses do.
local status = "CHARGED"
if isLimited then
  status = "RATE_LIMITED"
elseif remaining and not (remaining > 0 and cost <= remaining) then
  status = "USAGE_EXCEEDED"
end
local isTaken = status == "CHARGED"
if isTaken and remaining then remaining = remaining - cost end
local reply = { status, remaining and digits(remaining) or "" }
for number = 1, #starts do
  if isTaken then useds[number] = useds[number] + tonumber(ARGV[FIRST_LIMIT + number * 5 - 1]) end
  reply[number * 2 + 1] = digits(starts[number])
  reply[number * 2 + 2] = digits(useds[number])
end
if ARGV[7] ~= "take" then return reply end

-- 6. What has moved. Everything was read and found good: nothing below can fail half way.
if isTaken then
  local moved, sharedMoved = {}, {}
  if remaining and (isSettled or cost > 0) then moved = { "remaining", reply[2] } end
  if isSettled then
    moved[3] = "refilledAt"
    moved[4] = digits(refilledAt)
  end
  for number = 1, #starts do
    local at = FIRST_LIMIT + (number - 1) * 5
    if tonumber(ARGV[at + 4]) > 0 then
      local window = reply[number * 2 + 1] .. ":" .. reply[number * 2 + 2]
      if ARGV[at] == "k" then
        moved[#moved + 1] = ARGV[at + 1]
        moved[#moved + 1] = window
      elseif ARGV[at] == "i" then
        sharedMoved[#sharedMoved + 1] = ARGV[at + 1]
        sharedMoved[#sharedMoved + 1] = window
      else
        local leftMs = starts[number] + tonumber(ARGV[at + 3]) + KEPT_AFTER_END_MS - now
        redis.call("SET", homes[number], window, "PX", digits(leftMs))
      end
    end
  end
  if #moved > 0 then redis.call("HSET", KEYS[1], unpack(moved)) end
  -- An identity that was deleted is not brought back by its counters.
  if shared[1] and #sharedMoved > 0 then redis.call("HSET", KEYS[3], unpack(sharedMoved)) end
end
if memory and tonumber(ARGV[12]) > now then
  local result = table.concat(reply, " ") .. "\n" .. ARGV[13]
  local value = ARGV[11] .. "\n" .. ARGV[12] .. "\n" .. result
  redis.call("SET", memory, value, "PX", digits(tonumber(ARGV[12]) - now))
end
return reply
