-- What a bucket counts of what has flowed in, and from when on, after more did until an instant. Where it would be no safe integer any more, it
-- begins anew. Mirrors withInflow in packages/core/src/rules/token-bucket.ts.
local function withInflow(flowed, since, more, at)
  if more > MAX - flowed then return 0, at end
  return flowed + more, since
end
