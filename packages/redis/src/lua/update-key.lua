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
  KEYS[12]  uses that do not lie with a key, by the id of their owner, a hash
  KEYS[13]  counters that the key shares or, where it shares none, those it would share after a rotation, a hash
  KEYS[14]  audit log by id, a hash, KEYS[15] its lists, a sorted set
  KEYS[16]  where ARGV[12] is given: version and windows of that identity, a hash
  ARGV[1]   id of the key
  ARGV[2]   expected version
  ARGV[3]   "1" when the version rises
  ARGV[4]   to ARGV[8]: change of the uses, see change-usage.lua
  ARGV[9]   longest value of a short field, in bytes
  ARGV[10]  identity: "keep", "unlink" or "link"
  ARGV[11]  digest of the external id of the identity to link, or ""
  ARGV[12]  to ARGV[15]: id, record, version and uses of that identity where it is to be created, as insert-identity.lua
            takes them; or ""
  ARGV[16]  a count of fields of windows that go on, and their names; -1 when all do
  then      a count of fields, name and value of each, "" to remove and "=" before any other value; the roles, then the
            permissions, see resolve-grants.lua, each -1 to leave them; entries of the log
  Returns   {"NOT_FOUND"}, {"STALE"}, {"CORRUPT"}, {"UNLIMITED"}, {"INSUFFICIENT", uses left}, {"OVERFLOW", uses left},
            {"MISSING", numbers of the missing roles, numbers of the missing permissions} or
            {"UPDATED", uses left or "", instant up to which refills are settled, ids of what was created …}
  Mirrors   KeyStore.updateKey in packages/core/src/store.ts and changeUsage in packages/core/src/usage.ts
]]
-- include whole.lua
-- include uses-apart.lua
-- include change-usage.lua
-- include resolve-grants.lua
-- include put-field.lua
-- include write-log.lua
local SHORT = tonumber(ARGV[9])
local key = redis.call("HMGET", KEYS[1], "stamp", "remaining", "refilledAt", "api", "identity", "counters")
if not key[1] then return { "NOT_FOUND" } end
local id, version = string.match(key[1], "^([^ ]*) (%d+)$")
if id and id ~= ARGV[1] then return { "NOT_FOUND" } end
if redis.call("HEXISTS", KEYS[11], key[4] or "") == 0 then return { "NOT_FOUND" } end
if not whole(version) then return { "CORRUPT" } end
if version ~= ARGV[2] then return { "STALE" } end

-- The use counter. Nil stands for unlimited.
local refilledAt, remaining = whole(key[3]), whole(key[2])
if key[2] and not remaining then return { "CORRUPT" } end
if key[6] then refilledAt, remaining = unpackUses(redis.call("HGET", KEYS[12], key[6])) end
if not refilledAt then return { "CORRUPT" } end
local refusal
remaining, refilledAt, refusal = changeUsage(4, remaining, refilledAt)
if refusal then return refusal end

-- Roles and permissions, and that everything else is what it has to be before anything is written.
local kept = tonumber(ARGV[16])
local windowsEnd = 16 + math.max(0, kept)
local fieldsAt = windowsEnd + 1
local rolesAt = fieldsAt + 2 * tonumber(ARGV[fieldsAt]) + 1
redis.call("HEXISTS", KEYS[2], "")
redis.call("ZCARD", KEYS[3])
redis.call("HEXISTS", KEYS[12], "")
redis.call("HEXISTS", KEYS[13], "")
checkLog(KEYS[14], KEYS[15])
local roles = resolve(rolesAt, KEYS[4], KEYS[5])
local permissionsAt = roles.ends + 1
local permissions = resolve(permissionsAt, KEYS[6], KEYS[7])
if #roles.missing > 0 or #permissions.missing > 0 then
  return { "MISSING", table.concat(roles.missing, " "), table.concat(permissions.missing, " ") }
end
local identityId = key[5]
local isNewIdentity = false
local linked = {}
if ARGV[10] == "unlink" then identityId = false end
if ARGV[10] == "link" then
  redis.call("HEXISTS", KEYS[8], "")
  redis.call("ZCARD", KEYS[10])
  redis.call("HEXISTS", KEYS[16], "version")
  local known = redis.call("HGET", KEYS[9], ARGV[11])
  identityId = known or ARGV[12]
  isNewIdentity = not known
  linked[ARGV[12]] = identityId
end

local left = remaining and digits(remaining) or ""
local reply, created = { "UPDATED", left, digits(refilledAt) }, {}
if ARGV[3] == "1" then redis.call("HSET", KEYS[1], "stamp", id .. " " .. digits(tonumber(version) + 1)) end
if ARGV[4] ~= "" then
  if key[6] then
    redis.call("HSET", KEYS[12], key[6], packUses(remaining, refilledAt))
  else
    redis.call("HSET", KEYS[1], "refilledAt", digits(refilledAt))
    if remaining then redis.call("HSET", KEYS[1], "remaining", left) else redis.call("HDEL", KEYS[1], "remaining") end
  end
end
if kept >= 0 then
  local isKept = {}
  for at = 17, windowsEnd do isKept[ARGV[at]] = true end
  local home = key[6] and KEYS[13] or KEYS[1]
  for _, field in ipairs(redis.call("HKEYS", home)) do
    if string.sub(field, 1, 2) == "k:" and not isKept[field] then redis.call("HDEL", home, field) end
  end
end
for at = fieldsAt + 1, rolesAt - 1, 2 do
  if ARGV[at + 1] == "" then
    remove(KEYS[1], KEYS[2], ARGV[at])
  else
    put(KEYS[1], KEYS[2], ARGV[at], string.sub(ARGV[at + 1], 2), SHORT)
  end
end
if isNewIdentity then
  redis.call("HSET", KEYS[8], identityId, ARGV[13])
  redis.call("HSET", KEYS[9], ARGV[11], identityId)
  redis.call("ZADD", KEYS[10], "0", identityId)
  redis.call("HSET", KEYS[16], "version", ARGV[14])
  redis.call("HSET", KEYS[12], identityId, ARGV[15])
  created[1], created[identityId] = identityId, true
end
create(roles, KEYS[4], KEYS[5], created)
create(permissions, KEYS[6], KEYS[7], created)
local function hold(field, at, found)
  if ARGV[at] == "-1" then return end
  local ids = allIds(found)
  if ids ~= "" then put(KEYS[1], KEYS[2], field, ids, SHORT) else remove(KEYS[1], KEYS[2], field) end
end
hold("roles", rolesAt, roles)
hold("permissions", permissionsAt, permissions)
if identityId ~= key[5] then
  if key[5] then redis.call("ZREM", KEYS[3], key[4] .. " " .. key[5] .. " " .. ARGV[1]) end
  if identityId then
    redis.call("HSET", KEYS[1], "identity", identityId)
    redis.call("ZADD", KEYS[3], "0", key[4] .. " " .. identityId .. " " .. ARGV[1])
  else
    redis.call("HDEL", KEYS[1], "identity")
  end
end
writeLog(permissions.ends + 1, KEYS[14], KEYS[15], created, linked)
for _, newId in ipairs(created) do reply[#reply + 1] = newId end
return reply
