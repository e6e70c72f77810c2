#!lua
--[[
  Writes keys with their identities, links and counters: all of them or none.

  KEYS[1]   hashes of keys by id, a hash
  KEYS[2]   APIs by id, a hash
  KEYS[3]   keys of all APIs, a sorted set of "<apiId> <keyId>", each with score 0
  KEYS[4]   keys that have an identity, a sorted set of "<apiId> <identityId> <keyId>", each with score 0
  KEYS[5]   roles by id, KEYS[6] ids of roles by name: hashes
  KEYS[7]   permissions by id, KEYS[8] ids of permissions by name: hashes
  KEYS[9]   identities by id, KEYS[10] ids of identities by digest of the external id: hashes
  KEYS[11]  ids of all identities, a sorted set, each with score 0
  KEYS[12]  uses that do not lie with a key, by the id of their owner, a hash
  KEYS[13]  audit log by id, a hash, KEYS[14] its lists, a sorted set
  then      for each key: its record, a hash of short fields; its long fields, a hash; where it has the digest of an external
            id, version and windows of the identity that may be created, a hash
  ARGV[1]   longest value of a short field, in bytes
  then      the roles, then the permissions that any of the keys refers to, see resolve-grants.lua; a count of keys; for each
            key: its id; hash that it is kept under; id of its API; its version; digest of the external id of the identity to
            link, or ""; id, record, version and uses of that identity where it is to be created, as insert-identity.lua
            takes them; or, without a digest, the id to link as it is, or "", and three times ""; numbers of its roles, then
            of its permissions, separated by spaces; a count of fields, name and value of each; after all keys entries of
            the log
  Returns   {"NO_API", number of the key}, {"HASH_TAKEN", number of the key}, {"ID_TAKEN"},
            {"MISSING", numbers of the missing roles, numbers of the missing permissions} or
            {"INSERTED", ids of the identities, roles and permissions that were created …}
  Mirrors   KeyStore.insertKeys in packages/core/src/store.ts
]]
-- include whole.lua
-- include resolve-grants.lua
-- include write-log.lua
local SHORT = tonumber(ARGV[1])
-- Only to find out that each is what it has to be, before anything is written.
redis.call("ZCARD", KEYS[3])
redis.call("ZCARD", KEYS[4])
checkLog(KEYS[13], KEYS[14])
local roles = resolve(2, KEYS[5], KEYS[6])
local permissions = resolve(roles.ends + 1, KEYS[7], KEYS[8])
local countAt = permissions.ends + 1

-- 1. What may refuse: the first key in order says it.
local keys, isTaken, identityIds, linked = {}, {}, {}, {}
local at, nextKey = countAt, 14
for number = 1, tonumber(ARGV[countAt]) do
  local key = { at = at, id = ARGV[at + 1], hash = ARGV[at + 2], api = ARGV[at + 3], digest = ARGV[at + 5] }
  key.record, key.long, nextKey = KEYS[nextKey + 1], KEYS[nextKey + 2], nextKey + 2
  if redis.call("HEXISTS", KEYS[2], key.api) == 0 then return { "NO_API", digits(number - 1) } end
  if isTaken[key.record] or redis.call("EXISTS", key.record) == 1 then return { "HASH_TAKEN", digits(number - 1) } end
  if isTaken[key.id] or redis.call("HEXISTS", KEYS[1], key.id) == 1 then return { "ID_TAKEN" } end
  isTaken[key.record], isTaken[key.id] = true, true
  key.identityId = ARGV[at + 6]
  if key.digest ~= "" then
    nextKey = nextKey + 1
    key.counters = KEYS[nextKey]
    redis.call("HEXISTS", KEYS[9], "")
    redis.call("ZCARD", KEYS[11])
    redis.call("HEXISTS", KEYS[12], "")
    redis.call("HEXISTS", key.counters, "version")
    local known = identityIds[key.digest] or redis.call("HGET", KEYS[10], key.digest)
    key.isNewIdentity = not known
    key.identityId = known or ARGV[at + 6]
    identityIds[key.digest] = key.identityId
    linked[ARGV[at + 6]] = key.identityId
  end
  keys[number] = key
  at = at + 12 + 2 * tonumber(ARGV[at + 12])
end
if #roles.missing > 0 or #permissions.missing > 0 then
  return { "MISSING", table.concat(roles.missing, " "), table.concat(permissions.missing, " ") }
end

-- 2. All is good. Ids are told in the order in which the keys ask for them.
local reply, created = { "INSERTED" }, {}
local function tell(id)
  if created[id] then return end
  created[id] = true
  reply[#reply + 1] = id
end

-- The ids that some of the references stand for, each once, separated by spaces. Keys of one call often hold the same.
local function idsAt(numbers, found, known)
  if known[numbers] then return known[numbers] end
  local ids, seen = {}, {}
  for number in string.gmatch(numbers, "%d+") do
    local id = found.ids[tonumber(number) + 1]
    if not seen[id] then
      seen[id] = true
      ids[#ids + 1] = id
      if found.isNew[id] then tell(id) end
    end
  end
  known[numbers] = table.concat(ids, " ")
  return known[numbers]
end

local heldRoles, heldPermissions = {}, {}
create(roles, KEYS[5], KEYS[6])
create(permissions, KEYS[7], KEYS[8])
for _, key in ipairs(keys) do
  local first, identityId = key.at, key.identityId
  if key.isNewIdentity then
    redis.call("HSET", KEYS[9], identityId, ARGV[first + 7])
    redis.call("HSET", KEYS[10], key.digest, identityId)
    redis.call("ZADD", KEYS[11], "0", identityId)
    redis.call("HSET", key.counters, "version", ARGV[first + 8])
    redis.call("HSET", KEYS[12], identityId, ARGV[first + 9])
    tell(identityId)
  end
  -- What scripts look for stays among the short fields, however long it is.
  local short, long = { "stamp", key.id .. " " .. ARGV[first + 4], "api", key.api }, {}
  local function put(field, value)
    local home = #value <= SHORT and short or long
    home[#home + 1] = field
    home[#home + 1] = value
  end
  for field = first + 13, first + 12 + 2 * tonumber(ARGV[first + 12]), 2 do put(ARGV[field], ARGV[field + 1]) end
  if identityId ~= "" then
    short[#short + 1] = "identity"
    short[#short + 1] = identityId
    redis.call("ZADD", KEYS[4], "0", key.api .. " " .. identityId .. " " .. key.id)
  end
  local roleIds = idsAt(ARGV[first + 10], roles, heldRoles)
  local permissionIds = idsAt(ARGV[first + 11], permissions, heldPermissions)
  if roleIds ~= "" then put("roles", roleIds) end
  if permissionIds ~= "" then put("permissions", permissionIds) end
  redis.call("DEL", key.long)
  redis.call("HSET", key.record, unpack(short))
  if #long > 0 then redis.call("HSET", key.long, unpack(long)) end
  redis.call("HSET", KEYS[1], key.id, key.hash)
  redis.call("ZADD", KEYS[3], "0", key.api .. " " .. key.id)
end
writeLog(at + 1, KEYS[13], KEYS[14], created, linked)
return reply
