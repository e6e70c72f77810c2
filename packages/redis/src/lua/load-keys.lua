#!lua flags=allow-oom
--[[
  Reads keys with all that a verification or a listing needs of them, as one snapshot.

  Not marked as a script without writes, though it makes none: a server that has become a replica then refuses it.

  KEYS[1]  workspace, a hash
  KEYS[2]  roles by id, a hash: version, ids of permissions separated by spaces and the rest, each on a line
  KEYS[3]  permissions by id, a hash
  KEYS[4]  identities by id, a hash
  KEYS[5]  APIs by id, a hash
  KEYS[6]  uses that do not lie with a key, by the id of their owner, a hash
  KEYS[7]  latest use of keys by id, a hash
  then     for each key: its record, a hash; its long fields, a hash
  ARGV[n]  id that the n-th record must have, or "" for whatever it has
  Returns  {enabled or "", epoch or "", name or "", then for each key: {} where there is none or its API was deleted, else
           {fields, long fields, API, identity or "", uses of the identity or "", shared uses of the key or "", latest use
           or "", roles held, permissions held directly, permissions through roles}}; roles and permissions as {id, record,
           id, record …}
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

-- Of roles and of permissions, read once for all keys: those of one page mostly hold the same.
local known = {}

local function itemOf(catalog, id)
  local name = catalog .. " " .. id
  if known[name] == nil then known[name] = redis.call("HGET", catalog, id) end
  return known[name]
end

-- Takes each id once, and what is gone not at all.
local function collect(ids, catalog, seen, found)
  for id in string.gmatch(ids, "%S+") do
    if not seen[id] then
      seen[id] = true
      local item = itemOf(catalog, id)
      if item then
        found[#found + 1] = id
        found[#found + 1] = item
      end
    end
  end
end

local workspace = redis.call("HMGET", KEYS[1], "enabled", "epoch", "name")
local reply = { workspace[1] or "", workspace[2] or "", workspace[3] or "" }
for number = 1, #ARGV do
  local flat = redis.call("HGETALL", KEYS[6 + number * 2])
  local id = string.match(fieldOf("stamp", flat, {}), "^[^ ]*")
  local api = #flat > 0 and redis.call("HGET", KEYS[5], fieldOf("api", flat, {}))
  if not api or (ARGV[number] ~= "" and ARGV[number] ~= id) then
    reply[#reply + 1] = {}
  else
    local long = redis.call("HGETALL", KEYS[7 + number * 2])
    local identityId, countersId = fieldOf("identity", flat, {}), fieldOf("counters", flat, {})
    local identity = identityId ~= "" and redis.call("HGET", KEYS[4], identityId) or ""
    local drawn = identity ~= "" and redis.call("HGET", KEYS[6], identityId) or ""
    local shared = countersId ~= "" and redis.call("HGET", KEYS[6], countersId) or ""
    local usedAt = redis.call("HGET", KEYS[7], id) or ""
    local roles, direct, inherited, seen = {}, {}, {}, {}
    collect(fieldOf("roles", flat, long), KEYS[2], {}, roles)
    collect(fieldOf("permissions", flat, long), KEYS[3], seen, direct)
    for at = 2, #roles, 2 do
      collect(string.match(roles[at], "^[^\n]*\n([^\n]*)") or "", KEYS[3], seen, inherited)
    end
    reply[#reply + 1] = { flat, long, api, identity, drawn, shared, usedAt, roles, direct, inherited }
  end
end
return reply
