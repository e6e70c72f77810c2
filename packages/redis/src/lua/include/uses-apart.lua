-- Uses that do not lie in the record of a key: "<uses left, nothing for unlimited>:<instant up to which refills are settled>".
-- Answers the instant and the uses left; nil where that is damaged.
local function unpackUses(text)
  local left, settledAt = string.match(text or "", "^(%d*):(%d+)$")
  local refilledAt, remaining = whole(settledAt), whole(left)
  if not refilledAt or (left ~= "" and not remaining) then return nil end
  return refilledAt, remaining
end

local function packUses(remaining, refilledAt)
  return (remaining and digits(remaining) or "") .. ":" .. digits(refilledAt)
end
