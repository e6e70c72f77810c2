-- Uses left or nil, refilledAt, lastRefillAt or "-", and what follows them as text; nothing where that is damaged.
local function unpackCounters(text)
  local left, refilledAt, lastRefillAt, rest = match(text, "^(%S+) (%d+) (%S+)( .*)$")
  refilledAt = whole(refilledAt)
  local remaining = left ~= "-" and whole(left) or nil
  if not refilledAt or not (remaining or left == "-") then return nil end
  if lastRefillAt ~= "-" and not whole(lastRefillAt) then return nil end
  return refilledAt, remaining, lastRefillAt, rest
end
