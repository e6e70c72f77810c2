-- include groups.lua
-- include inflow.lua
-- The state of a limit that is not a plain fixed window, at an instant, if nothing is taken. Figures: "s" for sliding, "t" for a token
-- bucket or "c" for a concurrent one, "!" for a shadow, units, after a "/" the size of a bucket, and after a "+" the units of it that are
-- taken for a lease. Mirrors limitAt in packages/core/src/rules/limit-algorithm.ts.
-- Returns whether it is a shadow, room, units of the state per unit, at, used, earlier, when nothing of it is left once these units are
-- taken, and those for a lease; nil for a damaged state.
local function otherLimit(figures, storedAt, storedUsed, earlier, duration, now, units)
  local kind, shadow, limit, burst, leased = match(figures, "^([stc]?)(!?)(%d+)/?(%d*)%+?(%d*)$")
  shadow, limit = shadow == "!", tonumber(limit)
  if kind == "" then
    local at, used = now - math.fmod(now, duration), 0
    if storedAt and storedAt >= at then at, used = storedAt, storedUsed end
    return shadow, limit - used, 1, at, used, "", at + duration
  end
  local at = math.max(now, storedAt or 0)
  -- Slots that end by themselves are given back before the decision.
  if kind == "c" then return shadow, limit - (storedUsed or 0), 1, at, storedUsed or 0, "", at + duration end
  if kind == "t" then
    earlier = earlier or ""
    -- Units of leases are missing until the leases end.
    local held = earlier ~= "" and (tonumber(match(earlier, "^%d+")) or MAX + 1) * duration or 0
    if held > MAX then return nil end
    local used = held
    if storedAt and at - storedAt < ceilDiv(math.max(0, storedUsed - held), limit) then used = storedUsed - (at - storedAt) * limit end
    -- "<leased>,<flowed>,<since>" once units of it were reserved.
    local own, flowed, since = match(earlier, "^(%d+),(%d+),(%d+)$")
    if own and storedUsed > used then
      earlier = format("%s,%.0f,%.0f", own, withInflow(tonumber(flowed), tonumber(since), storedUsed - used, at))
    end
    local ends = at + ceilDiv(used + units * duration, limit)
    return shadow, burst - ceilDiv(used, duration), duration, at, used, earlier, ends, tonumber(leased)
  end
  local length = math.ceil(duration / 16)
  local since, ends = at - duration + 1, at + duration + length
  local first = since > 0 and groupOf(since, length) or 0
  local latest = storedAt and groupOf(storedAt, length) or -1
  if latest < first then return shadow, limit, 1, at, 0, "", ends end
  local room, counts = limit - storedUsed, {}
  for count in string.gmatch(earlier, "%d+") do
    if #counts == latest - first then break end
    if not (tonumber(count) <= MAX) then return nil end
    counts[#counts + 1], room = count, room - count
  end
  local passed = groupOf(at, length) - latest
  if passed > 0 then table.insert(counts, 1, string.rep("0,", passed - 1) .. format("%.0f", storedUsed)) end
  return shadow, room, 1, at, passed > 0 and 0 or storedUsed, table.concat(counts, ","), ends
end
