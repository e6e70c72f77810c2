#!lua
--[[
  Sets fields of a key, if its version is the expected one.

  KEYS[1]   record of the key, a hash of short fields
  KEYS[2]   long fields of the key, a hash
  KEYS[3]   keys that have an identity, a sorted set of "<apiId> <identityId> <keyId>", each with score 0
  KEYS[4]   roles by id, KEYS[5] ids of roles by name: hashes
  KEYS[6]   permissions by id, KEYS[7] ids of permissions by name: hashes
  KEYS[8]   identities by id, KEYS[9] ids of identities by digest of the external id: hashes
  KEYS[10]  ids of all identities, a sorted set, each with score 0
  KEYS[11]  APIs by id, a hash
  KEYS[12]  where ARGV[12] is given: version and windows of that identity, a hash
  ARGV[1]   id of the key
  ARGV[2]   expected version
  ARGV[3]   "1" when the version rises
  ARGV[4]   change of the uses: "", "keep", "set", "increment" or "decrement"
  ARGV[5]   its number; "" for unlimited
  ARGV[6]   amount of the refill to settle first, or ""
  ARGV[7]   Unix epoch ms at which it fell due, or ""
  ARGV[8]   Unix epoch ms up to which refills count as settled afterwards, or ""
  ARGV[9]   longest value of a short field, in bytes
  ARGV[10]  identity: "keep", "unlink" or "link"
  ARGV[11]  digest of the external id of the identity to link, or ""
  ARGV[12]  id of that identity where it is to be created, ARGV[13] its record, ARGV[14] its version; or ""
  ARGV[15]  "1" when the windows of all limits but those named are forgotten
  then      a count of fields of windows that go on, and their names; a count of fields, name and value of each, "" to
            remove and "=" before any other value; the roles, then the permissions: a count, -1 to leave them, then for
            each "id" or "name", its text, and id and record to create it with or ""
  Returns   {"NOT_FOUND"}, {"STALE"}, {"CORRUPT"}, {"UNLIMITED"}, {"INSUFFICIENT", uses left}, {"OVERFLOW", uses left},
            {"MISSING", numbers of the missing roles, numbers of the missing permissions} or
            {"UPDATED", uses left or "", instant up to which refills are settled}
  Mirrors   KeyStore.updateKey in packages/core/src/store.ts and changeUsage in packages/core/src/usage.ts
]]
local MAX = 9007199254740991

-- Nil for anything but a whole number from 0 to 2^53 - 1 in decimal digits.
local function whole(text)
  if not text or #text > 16 or not string.find(text, "^%d+$") then return nil end
  local number = tonumber(text)
  if number <= MAX then return number end
  return nil
end

local function digits(number) return string.format("%.0f", number) end

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

local key = redis.call("HMGET", KEYS[1], "stamp", "remaining", "refilledAt", "api", "identity")
if not key[1] then return { "NOT_FOUND" } end
local id, version = string.match(key[1], "^([^ ]*) (%d+)$")
if id and id ~= ARGV[1] then return { "NOT_FOUND" } end
if redis.call("HEXISTS", KEYS[11], key[4] or "") == 0 then return { "NOT_FOUND" } end
if not whole(version) then return { "CORRUPT" } end
if version ~= ARGV[2] then return { "STALE" } end

-- The use counter. Nil stands for unlimited.
local remaining, refilledAt
refilledAt = whole(key[3])
if not refilledAt then return { "CORRUPT" } end
if key[2] then
  remaining = whole(key[2])
  if not remaining then return { "CORRUPT" } end
end
local change, number = ARGV[4], tonumber(ARGV[5])
if change ~= "" then
  if ARGV[6] ~= "" and remaining and refilledAt < tonumber(ARGV[7]) then
    remaining = math.max(remaining, tonumber(ARGV[6]))
    refilledAt = tonumber(ARGV[7])
  end
  refilledAt = math.max(refilledAt, tonumber(ARGV[8]))
  if change == "set" then
    remaining = number
  elseif change ~= "keep" then
    if not remaining then return { "UNLIMITED" } end
    if change == "increment" then
      if not (remaining + number <= MAX) then return { "OVERFLOW", digits(remaining) } end
      remaining = remaining + number
    else
      if not (number <= remaining) then return { "INSUFFICIENT", digits(remaining) } end
      remaining = remaining - number
    end
  end
end

-- Roles and permissions, and that everything else is what it has to be before anything is written.
local windowsEnd = 16 + tonumber(ARGV[16])
local fieldsAt = windowsEnd + 1
local rolesAt = fieldsAt + 2 * tonumber(ARGV[fieldsAt]) + 1
local permissionsAt = rolesAt + 1 + 4 * math.max(0, tonumber(ARGV[rolesAt]))
redis.call("HEXISTS", KEYS[2], "")
redis.call("ZCARD", KEYS[3])
for at = 4, 9 do redis.call("HEXISTS", KEYS[at], "") end
redis.call("ZCARD", KEYS[10])
local roles = resolve(rolesAt, KEYS[4], KEYS[5])
local permissions = resolve(permissionsAt, KEYS[6], KEYS[7])
if #roles.missing > 0 or #permissions.missing > 0 then
  return { "MISSING", table.concat(roles.missing, " "), table.concat(permissions.missing, " ") }
end
local identityId = key[5]
local isNewIdentity = false
if ARGV[10] == "unlink" then identityId = false end
if ARGV[10] == "link" then
  redis.call("HEXISTS", KEYS[12], "version")
  local known = redis.call("HGET", KEYS[9], ARGV[11])
  identityId = known or ARGV[12]
  isNewIdentity = not known
end

local function put(field, value)
  local home, other = KEYS[1], KEYS[2]
  if #value > tonumber(ARGV[9]) then home, other = other, home end
  redis.call("HSET", home, field, value)
  redis.call("HDEL", other, field)
end

local function remove(field)
  redis.call("HDEL", KEYS[1], field)
  redis.call("HDEL", KEYS[2], field)
end

if ARGV[3] == "1" then redis.call("HSET", KEYS[1], "stamp", id .. " " .. digits(tonumber(version) + 1)) end
if change ~= "" then
  redis.call("HSET", KEYS[1], "refilledAt", digits(refilledAt))
  if remaining then redis.call("HSET", KEYS[1], "remaining", digits(remaining)) else remove("remaining") end
end
if ARGV[15] == "1" then
  local isKept = {}
  for at = 17, windowsEnd do isKept[ARGV[at]] = true end
  for _, field in ipairs(redis.call("HKEYS", KEYS[1])) do
    if string.sub(field, 1, 2) == "k:" and not isKept[field] then redis.call("HDEL", KEYS[1], field) end
  end
end
for at = fieldsAt + 1, rolesAt - 1, 2 do
  if ARGV[at + 1] == "" then remove(ARGV[at]) else put(ARGV[at], string.sub(ARGV[at + 1], 2)) end
end
create(roles, KEYS[4], KEYS[5])
create(permissions, KEYS[6], KEYS[7])
if ARGV[rolesAt] ~= "-1" then
  if #roles.ids > 0 then put("roles", table.concat(roles.ids, " ")) else remove("roles") end
end
if ARGV[permissionsAt] ~= "-1" then
  if #permissions.ids > 0 then put("permissions", table.concat(permissions.ids, " ")) else remove("permissions") end
end
if isNewIdentity then
  redis.call("HSET", KEYS[8], identityId, ARGV[13])
  redis.call("HSET", KEYS[9], ARGV[11], identityId)
  redis.call("ZADD", KEYS[10], "0", identityId)
  redis.call("HSET", KEYS[12], "version", ARGV[14])
end
if identityId ~= key[5] then
  if key[5] then redis.call("ZREM", KEYS[3], key[4] .. " " .. key[5] .. " " .. ARGV[1]) end
  if identityId then
    redis.call("HSET", KEYS[1], "identity", identityId)
    redis.call("ZADD", KEYS[3], "0", key[4] .. " " .. identityId .. " " .. ARGV[1])
  else
    redis.call("HDEL", KEYS[1], "identity")
  end
end
return { "UPDATED", remaining and digits(remaining) or "", digits(refilledAt) }
