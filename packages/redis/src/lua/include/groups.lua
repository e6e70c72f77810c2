local function ceilDiv(dividend, divisor)
  local rest = math.fmod(dividend, divisor)
  return (dividend - rest) / divisor + (rest > 0 and 1 or 0)
end
local function groupOf(at, length)
  return (at - math.fmod(at, length)) / length
end
