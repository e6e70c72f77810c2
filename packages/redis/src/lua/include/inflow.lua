-- The inflow that a bucket has counted, and since when, after more has flowed in until an instant. If the count would no longer be a safe
-- integer, it starts anew at that instant. Mirrors withInflow in packages/core/src/rules/token-bucket.ts.
local function withInflow(flowed, since, more, at)
  if more > MAX - flowed then return 0, at end
  return flowed + more, since
end
