-- Applies a change of uses: "", "keep", "set", "increment" or "decrement"; its number, "" for unlimited; amount of the
-- refill to settle first and instant at which it fell due, or ""; instant up to which refills count as settled afterwards.
-- Nil stands for unlimited. Answers uses left and the instant, and as a third value the reply that refuses.
local function changeUsage(at, remaining, refilledAt)
  local change, number = ARGV[at], tonumber(ARGV[at + 1])
  if change == "" then return remaining, refilledAt, nil end
  if ARGV[at + 2] ~= "" and remaining and refilledAt < tonumber(ARGV[at + 3]) then
    remaining = math.max(remaining, tonumber(ARGV[at + 2]))
    refilledAt = tonumber(ARGV[at + 3])
  end
  refilledAt = math.max(refilledAt, tonumber(ARGV[at + 4]))
  if change == "set" then return number, refilledAt, nil end
  if change == "keep" then return remaining, refilledAt, nil end
  if not remaining then return nil, refilledAt, { "UNLIMITED" } end
  if change == "increment" then
    if not (remaining + number <= MAX) then return remaining, refilledAt, { "OVERFLOW", digits(remaining) } end
    return remaining + number, refilledAt, nil
  end
  if not (number <= remaining) then return remaining, refilledAt, { "INSUFFICIENT", digits(remaining) } end
  return remaining - number, refilledAt, nil
end
