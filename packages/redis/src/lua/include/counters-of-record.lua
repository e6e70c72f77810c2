-- The counters of the record that ARGV[4], its id, and ARGV[3], the letter of its kind, name, and their place; nil if there are none.
local function countersOfRecord()
  local head = call("HGET", KEYS[4], id) or ""
  local _, stop = find(head, "^%S* %S* @")
  local place = stop and "w" .. sub(head, stop + 1) or ARGV[3] .. id
  return find(head, "^%S* %S* [^\n]") and load(place) or nil, place
end
