#!lua
--[[
  Writes a key with its identity, links and counters.

  KEYS[1]   record of the key, a hash of short fields
  KEYS[2]   long fields of the key, a hash
  KEYS[3]   hashes of keys by id, a hash
  KEYS[4]   APIs by id, a hash
  KEYS[5]   keys of all APIs, a sorted set of "<apiId> <keyId>", each with score 0
  KEYS[6]   keys that have an identity, a sorted set of "<apiId> <identityId> <keyId>", each with score 0
  KEYS[7]   roles by id, KEYS[8] ids of roles by name: hashes
  KEYS[9]   permissions by id, KEYS[10] ids of permissions by name: hashes
  KEYS[11]  identities by id, KEYS[12] ids of identities by digest of the external id: hashes
  KEYS[13]  ids of all identities, a sorted set, each with score 0
  KEYS[14]  where ARGV[4] is given: version and windows of that identity, a hash
  ARGV[1]   id of the key
  ARGV[2]   hash that it is kept under
  ARGV[3]   id of its API
  ARGV[4]   digest of the external id of the identity to link, or ""
  ARGV[5]   id of that identity where it is to be created; without a digest the id to link as it is, or ""
  ARGV[6]   its record and ARGV[7] its version, as insert-identity.lua takes them, or ""
  ARGV[8]   longest value of a short field, in bytes
  ARGV[9]   version of the key
  then      a count of fields, name and value of each; the roles and the permissions, as update-key.lua takes them
  Returns   {"INSERTED"}, {"NO_API"}, {"HASH_TAKEN"}, {"ID_TAKEN"} or
            {"MISSING", numbers of the missing roles, numbers of the missing permissions}
  Mirrors   KeyStore.insertKey in packages/core/src/store.ts
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

local function create(found, byId, byName)
  for _, created in ipairs(found.created) do
    redis.call("HSET", byId, created.id, created.record)
    redis.call("HSET", byName, created.name, created.id)
  end
end

if redis.call("HEXISTS", KEYS[4], ARGV[3]) == 0 then return { "NO_API" } end
if redis.call("EXISTS", KEYS[1]) == 1 then return { "HASH_TAKEN" } end
if redis.call("HEXISTS", KEYS[3], ARGV[1]) == 1 then return { "ID_TAKEN" } end
local fieldsEnd = 10 + 2 * tonumber(ARGV[10])
local permissionsAt = fieldsEnd + 2 + 4 * tonumber(ARGV[fieldsEnd + 1])
-- Only to find out that each is what it has to be, before anything is written.
for number = 7, 12 do redis.call("HEXISTS", KEYS[number], "") end
redis.call("ZCARD", KEYS[5])
redis.call("ZCARD", KEYS[6])
redis.call("ZCARD", KEYS[13])
local roles = resolve(fieldsEnd + 1, KEYS[7], KEYS[8])
local permissions = resolve(permissionsAt, KEYS[9], KEYS[10])
if #roles.missing > 0 or #permissions.missing > 0 then
  return { "MISSING", table.concat(roles.missing, " "), table.concat(permissions.missing, " ") }
end
local identityId = ARGV[5]
local isNewIdentity = false
if ARGV[4] ~= "" then
  redis.call("HEXISTS", KEYS[14], "version")
  local known = redis.call("HGET", KEYS[12], ARGV[4])
  identityId = known or identityId
  isNewIdentity = not known
end

create(roles, KEYS[7], KEYS[8])
create(permissions, KEYS[9], KEYS[10])
if isNewIdentity then
  redis.call("HSET", KEYS[11], identityId, ARGV[6])
  redis.call("HSET", KEYS[12], ARGV[4], identityId)
  redis.call("ZADD", KEYS[13], "0", identityId)
  redis.call("HSET", KEYS[14], "version", ARGV[7])
end
-- What scripts look for stays among the short fields, however long it is.
local short, long = { "stamp", ARGV[1] .. " " .. ARGV[9], "api", ARGV[3] }, {}
local function put(field, value)
  local home = #value <= tonumber(ARGV[8]) and short or long
  home[#home + 1] = field
  home[#home + 1] = value
end
for at = 11, fieldsEnd, 2 do put(ARGV[at], ARGV[at + 1]) end
if identityId ~= "" then
  short[#short + 1] = "identity"
  short[#short + 1] = identityId
  redis.call("ZADD", KEYS[6], "0", ARGV[3] .. " " .. identityId .. " " .. ARGV[1])
end
if #roles.ids > 0 then put("roles", table.concat(roles.ids, " ")) end
if #permissions.ids > 0 then put("permissions", table.concat(permissions.ids, " ")) end
redis.call("DEL", KEYS[2])
redis.call("HSET", KEYS[1], unpack(short))
if #long > 0 then redis.call("HSET", KEYS[2], unpack(long)) end
redis.call("HSET", KEYS[3], ARGV[1], ARGV[2])
redis.call("ZADD", KEYS[5], "0", ARGV[3] .. " " .. ARGV[1])
return { "INSERTED" }
