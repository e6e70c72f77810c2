local MAX = 9007199254740991

-- Nil for anything but a whole number from 0 to 2^53 - 1 in decimal digits.
local function whole(text)
  if not text or #text > 16 or not find(text, "^%d+$") then return nil end
  local number = tonumber(text)
  return number <= MAX and number or nil
end
