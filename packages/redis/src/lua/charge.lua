#!lua
--[[
  The atomic step of a verification: settles a due refill, then takes every window slot and every use, or none.

  KEYS[1]  record of the key, a hash
  KEYS[2]  workspace, a hash
  then     for "i" in ARGV[5] the counters of the identity, a hash; for "c" the windows of the key, a hash, where it shares
           them; for "s" and "u" the uses that do not lie with a key, by the id of their owner, a hash; for "q" the memory of
           the request, a string; for each limit "a" its window, a string, in their order
  ARGV[1]  stamp that the record must have: id of the key, a space, expected version
  ARGV[2]  expected epoch of the workspace
  ARGV[3]  now, Unix epoch ms
  ARGV[4]  uses to spend, 0 or more
  ARGV[5]  which of these follow, in this order: "l" nothing, but only look; "i" the expected version of the identity,
           "" for none; "c" nothing; "s" id of the counters that the key shares, whose uses are drawn from; "u" instead the
           id of an identity, which may have none; "r" amount of the refill that is due, and Unix epoch ms at which it fell
           due; "q" fingerprint of the question, Unix epoch ms until which the result is remembered, and what to remember of
           the limits beside their windows, one line, opaque here
  then     for each limit: the field of its window, which begins with "k" in a record and with "i" in the counters of
           an identity, or "a" for one made up by a request; units a window; length of a window in ms; units to take
  Returns  "STALE", "CONFLICT", "CORRUPT", "REPEAT " and what was remembered; or "CHARGED", "RATE_LIMITED" or
           "USAGE_EXCEEDED" and, each after a space, uses left or "", and <startedAt>:<used> for each limit
  Mirrors  applyCharge in packages/core/src/charge.ts

  Every argument and every local of this script is paid for with each verification: they are as few as they can be.
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, format, byte = string.match, string.format, string.byte
local MAX = 9007199254740991
local KEPT_AFTER_END_MS = 86400000
local KEY, IDENTITY = byte("k"), byte("i")

-- Nil for anything but a whole number from 0 to 2^53 - 1 in decimal digits.
local function whole(text)
  local number = text and match(text, "^%d+$") and tonumber(text)
  if number and number <= MAX then return number end
  return nil
end

local now = tonumber(ARGV[3])
local cost = tonumber(ARGV[4])
local nextKey, firstLimit = 3, 6
local isLook, identityKey, identityVersion, amount, dueAt, memory, fingerprint, forgottenAt, about
local windowsKey, usesKey, usesOwner, isShared, settledAt, drawn
if ARGV[5] ~= "" then
  for part in string.gmatch(ARGV[5], ".") do
    if part == "l" then
      isLook = true
    elseif part == "i" then
      identityKey, identityVersion = KEYS[3], ARGV[6]
      nextKey, firstLimit = 4, 7
    elseif part == "c" then
      windowsKey = KEYS[nextKey]
      nextKey = nextKey + 1
    elseif part == "s" or part == "u" then
      usesKey, usesOwner, isShared = KEYS[nextKey], ARGV[firstLimit], part == "s"
      nextKey, firstLimit = nextKey + 1, firstLimit + 1
    elseif part == "r" then
      amount, dueAt = tonumber(ARGV[firstLimit]), tonumber(ARGV[firstLimit + 1])
      firstLimit = firstLimit + 2
    elseif part == "q" then
      memory, fingerprint = KEYS[nextKey], ARGV[firstLimit]
      forgottenAt, about = ARGV[firstLimit + 1], ARGV[firstLimit + 2]
      nextKey, firstLimit = nextKey + 1, firstLimit + 3
    end
  end
end
local lastArgument = #ARGV

-- 1. What the decision rested on.
local fields = { "stamp", "remaining", dueAt and "refilledAt" }
local nextWindow = dueAt and 4 or 3
local lastField = nextWindow - 1
local sharedFields = identityKey and { "version" }
for at = firstLimit, lastArgument, 4 do
  local owner = byte(ARGV[at])
  if owner == KEY then
    lastField = lastField + 1
    fields[lastField] = ARGV[at]
  elseif owner == IDENTITY and sharedFields then
    sharedFields[#sharedFields + 1] = ARGV[at]
  end
end
local key
if windowsKey then
  key = call("HMGET", windowsKey, unpack(fields))
  key[1] = call("HGET", KEYS[1], "stamp")
else
  key = call("HMGET", KEYS[1], unpack(fields))
end
if key[1] ~= ARGV[1] then return "STALE" end
if (call("HGET", KEYS[2], "epoch") or "0") ~= ARGV[2] then return "STALE" end
local shared
if identityKey then
  shared = call("HMGET", identityKey, unpack(sharedFields))
  if (shared[1] or "") ~= identityVersion then return "STALE" end
end

-- 2. The repeat of a request.
if memory then
  local known = call("GET", memory)
  if known then
    local knownFingerprint, knownUntil, result = match(known, "^([^\n]*)\n(%d+)\n(.*)$")
    knownUntil = whole(knownUntil)
    if not knownUntil then return "CORRUPT" end
    if knownUntil > now then
      if knownFingerprint ~= fingerprint then return "CONFLICT" end
      return "REPEAT " .. result
    end
  end
end

-- 3. The uses, with a due refill settled. Nil stands for unlimited.
local remaining
local isSettled = false
if usesKey then
  local stored = call("HGET", usesKey, usesOwner)
  -- An identity that does not exist has none; a key that shares its counters has some.
  if isShared and not stored then return "CORRUPT" end
  local left, settled = match(stored or "0:0", "^(%d*):(%d+)$")
  if not left then return "CORRUPT" end
  key[2], settledAt = left ~= "" and left, settled
  -- Nor is one that does not exist given any.
  if not stored then usesKey = nil end
end
if key[2] then
  remaining = whole(key[2])
  if not remaining then return "CORRUPT" end
  if dueAt then
    local refilledAt = whole(settledAt or key[3])
    if not refilledAt then return "CORRUPT" end
    if refilledAt < dueAt then
      remaining = math.max(remaining, amount)
      isSettled = true
    end
  end
end

-- 4. The windows that count now.
local starts, useds, homes = {}, {}, nil
local isLimited = false
local nextShared, count = 2, 0
for at = firstLimit, lastArgument, 4 do
  count = count + 1
  local owner, durationMs = byte(ARGV[at]), tonumber(ARGV[at + 2])
  local stored
  if owner == KEY then
    stored = key[nextWindow]
    nextWindow = nextWindow + 1
  elseif owner == IDENTITY then
    stored = shared and shared[nextShared]
    nextShared = nextShared + 1
  else
    homes = homes or {}
    homes[count] = KEYS[nextKey]
    stored = call("GET", KEYS[nextKey])
    nextKey = nextKey + 1
  end
  -- Not the operator %: it divides, and is wrong by a whole window for some instants beyond 2^52.
  local startedAt, used = now - math.fmod(now, durationMs), 0
  if stored then
    local storedStart, storedUsed = match(stored, "^(%d+):(%d+)$")
    storedStart, storedUsed = tonumber(storedStart), tonumber(storedUsed)
    if not (storedStart and storedStart <= MAX and storedUsed <= MAX) then return "CORRUPT" end
    if storedStart >= startedAt then startedAt, used = storedStart, storedUsed end
  end
  starts[count], useds[count] = startedAt, used
  if not (used + tonumber(ARGV[at + 3]) <= tonumber(ARGV[at + 1])) then isLimited = true end
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
local left = remaining and format("%.0f", remaining) or ""
local answer = status .. " " .. left

-- 6. What is answered, and what has moved. A window is answered as it is stored.
local moved, movedCount, sharedMoved = {}, 0, nil
if isTaken and remaining and (isSettled or cost > 0) then
  if settledAt then
    drawn = left .. ":" .. (isSettled and format("%.0f", dueAt) or settledAt)
  else
    moved[1], moved[2], movedCount = "remaining", left, 2
    if isSettled then moved[3], moved[4], movedCount = "refilledAt", format("%.0f", dueAt), 4 end
  end
end
for number = 1, count do
  local at = firstLimit + number * 4 - 4
  local units = isTaken and tonumber(ARGV[at + 3]) or 0
  local window = format("%.0f:%.0f", starts[number], useds[number] + units)
  answer = answer .. " " .. window
  if units > 0 then
    local owner = byte(ARGV[at])
    if owner == KEY then
      moved[movedCount + 1], moved[movedCount + 2] = ARGV[at], window
      movedCount = movedCount + 2
    elseif owner == IDENTITY then
      sharedMoved = sharedMoved or {}
      sharedMoved[#sharedMoved + 1] = ARGV[at]
      sharedMoved[#sharedMoved + 1] = window
    elseif not isLook then
      local leftMs = starts[number] + tonumber(ARGV[at + 2]) + KEPT_AFTER_END_MS - now
      call("SET", homes[number], window, "PX", format("%.0f", leftMs))
    end
  end
end
if isLook then return answer end

-- 7. Everything was read and found good: nothing here or above can fail half way.
if movedCount > 0 then
  local home = windowsKey or KEYS[1]
  call("HSET", home, unpack(moved))
end
if drawn and usesKey then call("HSET", usesKey, usesOwner, drawn) end
-- An identity that was deleted is not brought back by its counters.
if sharedMoved and shared and shared[1] then call("HSET", identityKey, unpack(sharedMoved)) end
if memory and tonumber(forgottenAt) > now then
  local value = fingerprint .. "\n" .. forgottenAt .. "\n" .. answer .. "\n" .. about
  call("SET", memory, value, "PX", format("%.0f", tonumber(forgottenAt) - now))
end
return answer
