-- Detaches the hold of an entry of KEYS[3] from the counters with this name. A hold that is beside no other counters is deleted.
local function detachHold(name, entry)
  local id = sub(entry, #name + 18)
  local names, rest = match(call("HGET", KEYS[2], id) or "", "^(%S+)( .*)$")
  local left = names and string.gsub(names, "%d+", { [name] = "-" }) or ""
  if find(left, "%d") then call("HSET", KEYS[2], id, left .. rest) else call("HDEL", KEYS[2], id) end
  call("ZREM", KEYS[3], entry)
end
