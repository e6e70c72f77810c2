-- The counters of the record that ARGV[4] and its letter, ARGV[3], name, and their place; nil where there are none.
local function countersOfRecord()
  local head = call("HGET", KEYS[4], id) or ""
  local _, stop = find(head, "^%S* %S* @")
  local place = stop and "w" .. sub(head, stop + 1) or ARGV[3] .. id
  return find(head, "^%S* %S* [^\n]") and load(place) or nil, place
end
