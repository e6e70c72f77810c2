-- Whether a stored record meets an expectation: a version and a space, "*" for any record, "-" for no record, "" for either.
local function holds(stored, expected)
  if not stored then return expected == "-" or expected == "" end
  return expected == "*" or expected ~= "-" and sub(stored, 1, #expected) == expected
end
