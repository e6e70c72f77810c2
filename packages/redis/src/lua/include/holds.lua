-- Whether what is stored of a record is as expected: a version and a space, "*" for any, "-" for no record, "" for either.
local function holds(stored, expected)
  if not stored then return expected == "-" or expected == "" end
  return expected == "*" or expected ~= "-" and sub(stored, 1, #expected) == expected
end
