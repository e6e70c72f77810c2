#!lua flags=allow-oom
--[[
  Reads keys with all that a verification or a listing needs of them, as one snapshot.

  Not marked as a script without writes, though it makes none: a server that has become a replica then refuses it.

  KEYS[1]  workspace, a hash
  KEYS[2]  roles by id, a hash: ids of permissions separated by spaces, a newline, the rest
  KEYS[3]  permissions by id, a hash
  KEYS[4]  identities by id, a hash
  KEYS[5]  APIs by id, a hash
  then     for each key: its record, a hash; its long fields, a hash
  ARGV[n]  id that the n-th record must have, or "" for whatever it has
  Returns  {enabled or "", epoch or "", then for each key: {} where there is none or its API was deleted, else
           {fields, long fields, identity or "", roles held, permissions held directly and through roles}}
  Mirrors  LoadedKey in packages/core/src/key.ts
]]
local function fieldOf(name, flat, long)
  for _, list in ipairs({ flat, long }) do
    for at = 1, #list, 2 do
      if list[at] == name then return list[at + 1] end
    end
  end
  return ""
end

-- Reads each id once, and what is gone not at all.
local function collect(ids, catalog, seen, found)
  for id in string.gmatch(ids, "%S+") do
    if not seen[id] then
      seen[id] = true
      local item = redis.call("HGET", catalog, id)
      if item then found[#found + 1] = item end
    end
  end
end

local workspace = redis.call("HMGET", KEYS[1], "enabled", "epoch")
local reply = { workspace[1] or "", workspace[2] or "" }
for number = 1, #ARGV do
  local flat = redis.call("HGETALL", KEYS[4 + number * 2])
  local id = string.match(fieldOf("stamp", flat, {}), "^[^ ]*")
  local isThere = #flat > 0 and redis.call("HEXISTS", KEYS[5], fieldOf("api", flat, {})) == 1
  if not isThere or (ARGV[number] ~= "" and ARGV[number] ~= id) then
    reply[#reply + 1] = {}
  else
    local long = redis.call("HGETALL", KEYS[5 + number * 2])
    local identityId = fieldOf("identity", flat, long)
    local identity = identityId ~= "" and redis.call("HGET", KEYS[4], identityId) or ""
    local roles, permissions, seen = {}, {}, {}
    collect(fieldOf("roles", flat, long), KEYS[2], {}, roles)
    collect(fieldOf("permissions", flat, long), KEYS[3], seen, permissions)
    for _, role in ipairs(roles) do
      collect(string.match(role, "^[^\n]*"), KEYS[3], seen, permissions)
    end
    reply[#reply + 1] = { flat, long, identity, roles, permissions }
  end
end
return reply
