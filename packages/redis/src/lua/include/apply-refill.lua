-- Applies a refill: "<amount> <instant at which it fell due> <most units that it adds> <instant up to which refills are applied>", the
-- last two "-" for one that carries nothing over, all four "-" for none. The sums, nil for none, are those of hold-sums.lua, and so is
-- the lowest number of an open hold, 0 if it is not known. Mirrors applyRefill in packages/core/src/store/counters.ts. Returns uses left,
-- refilledAt and lastRefillAt.
local function applyRefill(refill, remaining, refilledAt, lastRefillAt, sums, oldest)
  local amount, dueAt, units, since = match(refill, "^(%S+) (%S+) (%S+) (%S+)$")
  amount, dueAt, units, since = tonumber(amount), tonumber(dueAt), tonumber(units), tonumber(since)
  if not amount or not remaining or refilledAt >= dueAt or since and since ~= refilledAt then
    return remaining, refilledAt, lastRefillAt
  end
  local raised = math.max(remaining, math.min(amount, remaining + (units or amount)))
  if sums and sums.uses > 0 and raised > remaining then
    local raises = ""
    for raise, before in string.gmatch(sums.raises, "((%d+)/[%d/]+)") do
      if tonumber(before) > oldest then raises = raises .. raise .. "," end
    end
    sums.raises = raises .. format("%.0f/%.0f/%.0f", sums.next, amount - raised, raised - remaining)
  end
  return raised, dueAt, format("%.0f", dueAt)
end
