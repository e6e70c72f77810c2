#!lua
--[[
  Takes from a limit that belongs to no key, or refuses and takes nothing.

  KEYS[1]  window of the limit, a string
  ARGV[1]  units a window
  ARGV[2]  length of a window in ms
  ARGV[3]  units to take, 0 or more
  ARGV[4]  now, Unix epoch ms
  Returns  {"ADMIT", start, used}, {"REFUSE", start, used} or {"CORRUPT"}
  Mirrors  decideWindow in packages/core/src/rate-limit.ts
]]
-- include whole.lua
local KEPT_AFTER_END_MS = 86400000
local limit, durationMs = tonumber(ARGV[1]), tonumber(ARGV[2])
local cost, now = tonumber(ARGV[3]), tonumber(ARGV[4])
-- Not the operator %: it divides, and is wrong by a whole window for some instants beyond 2^52.
local startedAt, used = now - math.fmod(now, durationMs), 0
local stored = redis.call("GET", KEYS[1])
if stored then
  local storedStart, storedUsed = string.match(stored, "^(%d+):(%d+)$")
  storedStart, storedUsed = whole(storedStart), whole(storedUsed)
  if not (storedStart and storedUsed) then return { "CORRUPT" } end
  if storedStart >= startedAt then startedAt, used = storedStart, storedUsed end
end
if not (used + cost <= limit) then return { "REFUSE", digits(startedAt), digits(used) } end

if cost > 0 then
  local window = digits(startedAt) .. ":" .. digits(used + cost)
  redis.call("SET", KEYS[1], window, "PX", digits(startedAt + durationMs + KEPT_AFTER_END_MS - now))
end
return { "ADMIT", digits(startedAt), digits(used + cost) }
