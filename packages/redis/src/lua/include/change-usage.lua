-- include apply-refill.lua
-- Applies a change of uses: "<operation> <number> <instant from which refills start anew> " and the refill to apply first, as above. Absent
-- values are "-"; "-" alone is no change. Mirrors changeUsage in packages/core/src/store/counters.ts. Updates the sums.
-- Returns uses left or nil, refilledAt, lastRefillAt or "-", and the kind of a refusal or nil.
local function changeUsage(change, remaining, refilledAt, lastRefillAt, sums)
  if change == "-" then return remaining, refilledAt, lastRefillAt, nil end
  local operation, number, restartsAt, refill = match(change, "^(%S+) (%S+) (%S+) (.*)$")
  number, restartsAt = tonumber(number), tonumber(restartsAt)
  remaining, refilledAt, lastRefillAt = applyRefill(refill, remaining, refilledAt, lastRefillAt, sums, 0)
  if operation == "set" then
    remaining = number
    if sums then sums.uses, sums.setBefore, sums.raises = 0, sums.next, "" end
  elseif operation ~= "keep" then
    if not remaining then return nil, refilledAt, lastRefillAt, "unlimited" end
    local isMore = operation == "increment"
    local changed = remaining + (isMore and number or -number)
    local most = changed + (isMore and sums and sums.uses or 0)
    local refusal = changed < 0 and "insufficient" or most > MAX and "overflow"
    if refusal then return remaining, refilledAt, lastRefillAt, refusal end
    remaining = changed
  end
  if restartsAt then
    if lastRefillAt ~= "-" and tonumber(lastRefillAt) > restartsAt then lastRefillAt = "-" end
    refilledAt = restartsAt
  end
  return remaining, refilledAt, lastRefillAt, nil
end
