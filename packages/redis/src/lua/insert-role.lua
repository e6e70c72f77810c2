#!lua
--[[
  Writes a role with its permissions, unless its name is taken or a permission is missing.

  KEYS[1]  roles by id, a hash: ids of permissions separated by spaces, a newline, the rest
  KEYS[2]  ids of roles by name, a hash
  KEYS[3]  permissions by id, a hash
  KEYS[4]  ids of permissions by name, a hash
  ARGV[1]  id of the role
  ARGV[2]  its name
  ARGV[3]  the rest of the record, one line, opaque here
  then     the permissions, as update-key.lua takes them
  Returns  {"INSERTED"}, {"NAME_TAKEN"} or {"MISSING", "", numbers of the references that are missing}
  Mirrors  KeyStore.insertRole in packages/core/src/store.ts
]]
-- Looks references up: a count, then for each "id" or "name", its text, and id and record to create it with or "".
local function resolve(at, byId, byName)
  local found = { ids = {}, created = {}, missing = {} }
  local seen, createdByName = {}, {}
  for number = 1, tonumber(ARGV[at]) do
    local first = at + (number - 1) * 4
    local text, newId, record = ARGV[first + 2], ARGV[first + 3], ARGV[first + 4]
    local id
    if ARGV[first + 1] == "id" then
      if redis.call("HEXISTS", byId, text) == 1 then id = text end
    else
      id = redis.call("HGET", byName, text)
      if not id and newId ~= "" then
        id = createdByName[text] or newId
        if not createdByName[text] then
          found.created[#found.created + 1] = { id = id, name = text, record = record }
        end
        createdByName[text] = id
      end
    end
    if not id then
      found.missing[#found.missing + 1] = string.format("%d", number - 1)
    elseif not seen[id] then
      seen[id] = true
      found.ids[#found.ids + 1] = id
    end
  end
  return found
end

if redis.call("HEXISTS", KEYS[2], ARGV[2]) == 1 then return { "NAME_TAKEN" } end
redis.call("HEXISTS", KEYS[1], ARGV[1])
redis.call("HEXISTS", KEYS[3], "")
redis.call("HEXISTS", KEYS[4], "")
local permissions = resolve(4, KEYS[3], KEYS[4])
if #permissions.missing > 0 then return { "MISSING", "", table.concat(permissions.missing, " ") } end

for _, created in ipairs(permissions.created) do
  redis.call("HSET", KEYS[3], created.id, created.record)
  redis.call("HSET", KEYS[4], created.name, created.id)
end
redis.call("HSET", KEYS[1], ARGV[1], table.concat(permissions.ids, " ") .. "\n" .. ARGV[3])
redis.call("HSET", KEYS[2], ARGV[2], ARGV[1])
return { "INSERTED" }
