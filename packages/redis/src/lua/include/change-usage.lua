-- Applies a change of uses: "<operation> <number> <amount of the refill to apply first> <instant at which it fell due>
-- <instant from which on refills start anew>", what is absent being "-", or "-" alone for no change. Mirrors changeUsage in
-- packages/core/src/store/counters.ts. Answers uses left or nil, refilledAt, lastRefillAt or "-", and the kind of a refusal.
local function changeUsage(change, remaining, refilledAt, lastRefillAt)
  if change == "-" then return remaining, refilledAt, lastRefillAt, nil end
  local operation, number, amount, dueAt, restartsAt = match(change, "^(%S+) (%S+) (%S+) (%S+) (%S+)$")
  number, amount, dueAt, restartsAt = tonumber(number), tonumber(amount), tonumber(dueAt), tonumber(restartsAt)
  if amount and remaining and refilledAt < dueAt then
    remaining, refilledAt, lastRefillAt = math.max(remaining, amount), dueAt, format("%.0f", dueAt)
  end
  if operation == "set" then
    remaining = number
  elseif operation ~= "keep" then
    if not remaining then return nil, refilledAt, lastRefillAt, "unlimited" end
    local changed = remaining + (operation == "increment" and number or -number)
    local refusal = changed < 0 and "insufficient" or changed > MAX and "overflow"
    if refusal then return remaining, refilledAt, lastRefillAt, refusal end
    remaining = changed
  end
  if restartsAt then
    if lastRefillAt ~= "-" and tonumber(lastRefillAt) > restartsAt then lastRefillAt = "-" end
    refilledAt = restartsAt
  end
  return remaining, refilledAt, lastRefillAt, nil
end
