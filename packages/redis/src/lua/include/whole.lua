local MAX = 9007199254740991

-- Nil for anything but a whole number from 0 to 2^53 - 1 in decimal digits.
local function whole(text)
  if not text or #text > 16 or not string.find(text, "^%d+$") then return nil end
  local number = tonumber(text)
  if number <= MAX then return number end
  return nil
end

local function digits(number) return string.format("%.0f", number) end
