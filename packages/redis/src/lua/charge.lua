#!lua
--[[
  The atomic step of a verification: confirms what the decision rested on, applies a due refill, then takes every window unit
  and every use, or none.

  KEYS[1]  revision of the workspace, a string; then what the letters name
  ARGV[1]  letters, each followed in ARGV by what it names, in this order: "e" the expected revision; for each confirmation
           "v" a key, KEYS: its record, its stamp "<id> <version>", or "<id> " for any version; "k" the same, with its counters;
           "s" the same, KEYS also the addresses of keys: id of the counters that it shares;
           "r" a record of another kind, KEYS: the hash of its kind, its id, "<version> " or "*"; "t" the same, with its counters;
           "n" that there is no record, KEYS: the hash of its kind or the addresses of keys, its id;
           "u" after the confirmation whose uses are drawn from; "c" uses to take, where not 1; "l" nothing, but only look;
           for each limit a character, its code 32 more than the number of the confirmation whose counters hold its window, or
           "p" for one that expires by itself, KEYS: that window, a string; the name of the window but for "p", units a window,
           length of a window in ms, units to take; "f" amount of the refill that is due, Unix epoch ms at which it fell due;
           "q" KEYS: memory of the request, a string; fingerprint of the question, Unix epoch ms until which the result is
           remembered, and what to remember of the limits beside their windows, one line, opaque here
  ARGV[2]  now, Unix epoch ms
  Returns  "STALE 0" for the revision, "STALE " or "LOST " and the number of a confirmation, lost where the record is not at its
           address; "SHARED " with the number and the id of the counters that the key shares or ""; "CONFLICT", "CORRUPT",
           "REPEAT " and what was remembered; or "charged", "rate-limited" or "usage-exceeded" and, each after a space, uses
           left or "-", and <startedAt>:<used> for each limit
  Mirrors  applyCharge in packages/core/src/store/charge.ts

  Every argument and every local of this script is paid for with each verification: they are as few as they can be.
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, find, format, byte = string.match, string.find, string.format, string.byte
-- include whole.lua
-- include record.lua
-- include counters.lua
local KEPT_AFTER_END_MS = 86400000
local V, K, S, R, T, N, U, P, SPACE = byte("vksrtnup ", 1, 9)

local now, cost = tonumber(ARGV[2]), 1
local at, nextKey, confirmed = 3, 2, 0
local homes, fields, texts, counters = {}, {}, {}, {}
local uses, isPeek, amount, dueAt, memory, fingerprint, rememberUntil, about
local limits, limitOwners, limitsAt, limitKeys = 0, {}, {}, nil

-- Two confirmed records may share their counters: these are held once.
local function hold(home, field, text)
  counters[confirmed] = confirmed
  for earlier = 1, confirmed - 1 do
    if homes[earlier] == home and fields[earlier] == field then counters[confirmed] = earlier end
  end
  homes[confirmed], fields[confirmed], texts[confirmed] = home, field, text or call("HGET", home, field)
end

-- 1. What the decision rested on.
for position = 1, #ARGV[1] do
  local op = byte(ARGV[1], position)
  if op == K or op == V or op == S then
    confirmed = confirmed + 1
    local home, stamp = KEYS[nextKey], ARGV[at]
    nextKey, at = nextKey + 1, at + 1
    local found = op == V and { call("HGET", home, "v") } or call("HMGET", home, "v", op == K and "u" or "s")
    if found[1] ~= stamp then
      local id = match(stamp, "^%S+ ") or ""
      if not found[1] or sub(found[1], 1, #id) ~= id then return "LOST " .. confirmed end
      if stamp ~= id then return "STALE " .. confirmed end
    end
    if op == S then
      if found[2] ~= ARGV[at] then return "SHARED " .. confirmed .. " " .. (found[2] or "") end
      hold(KEYS[nextKey], ARGV[at] .. " u")
      nextKey, at = nextKey + 1, at + 1
    elseif op == K then
      local shared = not found[2] and call("HGET", home, "s")
      if shared then return "SHARED " .. confirmed .. " " .. shared end
      hold(home, "u", found[2])
    end
  elseif op == R or op == T then
    confirmed = confirmed + 1
    local home, id, expected = KEYS[nextKey], ARGV[at], ARGV[at + 1]
    nextKey, at = nextKey + 1, at + 2
    local head = call("HGET", home, id)
    if not head or (expected ~= "*" and sub(head, 1, #expected) ~= expected) then return "STALE " .. confirmed end
    if op == T then
      local _, _, mark = unpackHead(head)
      hold(home, (mark == OWN and id or sub(mark, 2)) .. " u")
    end
  elseif op == N then
    confirmed = confirmed + 1
    if call("HEXISTS", KEYS[nextKey], ARGV[at]) == 1 then return "STALE " .. confirmed end
    nextKey, at = nextKey + 1, at + 1
  elseif op == U then
    uses = counters[confirmed] or 0
  elseif op == P or op < 97 then
    limits = limits + 1
    if op == P then
      limitKeys = limitKeys or {}
      limitKeys[limits], nextKey, at = KEYS[nextKey], nextKey + 1, at - 1
    else
      limitOwners[limits] = counters[op - SPACE] or 0
    end
    limitsAt[limits], at = at, at + 4
  elseif op == 101 then -- e
    if (call("GET", KEYS[1]) or "0") ~= ARGV[at] then return "STALE 0" end
    at = at + 1
  elseif op == 99 then -- c
    cost, at = tonumber(ARGV[at]), at + 1
  elseif op == 108 then -- l
    isPeek = true
  elseif op == 102 then -- f
    amount, dueAt, at = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), at + 2
  else -- q
    memory, fingerprint, rememberUntil, about = KEYS[nextKey], ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  end
end

-- 2. The repeat of a request.
local known = memory and call("GET", memory)
if known then
  local knownFingerprint, knownUntil, result = match(known, "^([^\n]*)\n(%d+)\n(.*)$")
  knownUntil = whole(knownUntil)
  if not knownUntil then return "CORRUPT" end
  if knownUntil > now then
    if knownFingerprint ~= fingerprint then return "CONFLICT" end
    return "REPEAT " .. result
  end
end

-- 3. The uses, with a due refill applied. Nil stands for unlimited.
local remaining, refilledAt, lastRefillAt, rest, isRefilled
if uses then
  -- A record that does not exist has none, and is given none.
  if homes[uses] and not texts[uses] then return "CORRUPT" end
  refilledAt, remaining, lastRefillAt, rest = unpackCounters(texts[uses] or "0 0 - 0")
  if not refilledAt then return "CORRUPT" end
  if dueAt and remaining and refilledAt < dueAt then
    remaining, isRefilled = math.max(remaining, amount), true
    refilledAt, lastRefillAt = dueAt, format("%.0f", dueAt)
  end
end

-- 4. The windows that count now.
local starts, useds, isLimited = {}, {}, false
for limit = 1, limits do
  local first, owner = limitsAt[limit], limitOwners[limit]
  local stored
  if not owner then
    stored = call("GET", limitKeys[limit])
  elseif texts[owner] then
    local _, stop = find(texts[owner], " " .. ARGV[first] .. "=", 1, true)
    stored = stop and match(texts[owner], "^%S*", stop + 1)
  elseif homes[owner] then
    return "CORRUPT"
  end
  -- Not the operator %: it divides, and is wrong by a whole window for some instants beyond 2^52.
  local startedAt, used = now - math.fmod(now, tonumber(ARGV[first + 2])), 0
  if stored then
    local storedStart, storedUsed = match(stored, "^(%d+):(%d+)$")
    storedStart, storedUsed = whole(storedStart), whole(storedUsed)
    if not (storedStart and storedUsed) then return "CORRUPT" end
    if storedStart >= startedAt then startedAt, used = storedStart, storedUsed end
  end
  starts[limit], useds[limit] = startedAt, used
  if not (used + tonumber(ARGV[first + 3]) <= tonumber(ARGV[first + 1])) then isLimited = true end
end

-- 5. The decision. Limits refuse before uses do.
local status = "charged"
if isLimited then
  status = "rate-limited"
elseif remaining and not (remaining > 0 and cost <= remaining) then
  status = "usage-exceeded"
end
local isTaken, moved = status == "charged", nil
if isTaken and remaining then
  remaining = remaining - cost
  if texts[uses] and (isRefilled or cost > 0) then
    texts[uses] = format("%.0f %.0f ", remaining, refilledAt) .. lastRefillAt .. rest
    moved = { [uses] = true }
  end
end
local answer = status .. " " .. (remaining and format("%.0f", remaining) or "-")

-- 6. What is answered. A window is answered as it is stored.
for limit = 1, limits do
  local first, owner = limitsAt[limit], limitOwners[limit]
  local units = isTaken and tonumber(ARGV[first + 3]) or 0
  local window = format("%.0f:%.0f", starts[limit], useds[limit] + units)
  answer = answer .. " " .. window
  if units > 0 and not owner and not isPeek then
    local leftMs = starts[limit] + tonumber(ARGV[first + 2]) + KEPT_AFTER_END_MS - now
    call("SET", limitKeys[limit], window, "PX", format("%.0f", leftMs))
  elseif units > 0 and owner and texts[owner] then
    local name = " " .. ARGV[first] .. "="
    local start, stop = find(texts[owner], name, 1, true)
    if start then
      local _, last = find(texts[owner], "^%S*", stop + 1)
      texts[owner] = sub(texts[owner], 1, stop) .. window .. sub(texts[owner], last + 1)
    else
      texts[owner] = texts[owner] .. name .. window
    end
    moved = moved or {}
    moved[owner] = true
  end
end
if isPeek then return answer end

-- 7. Everything was read and found good: nothing here or above can fail half way.
if moved then
  for owner in pairs(moved) do call("HSET", homes[owner], fields[owner], texts[owner]) end
end
if memory and rememberUntil > now then
  local value = fingerprint .. format("\n%.0f\n", rememberUntil) .. answer .. "\n" .. about
  call("SET", memory, value, "PX", format("%.0f", rememberUntil - now))
end
return answer
