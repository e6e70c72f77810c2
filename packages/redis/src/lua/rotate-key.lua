#!lua
--[[
  Puts a key beside another one, if the version of that is the expected one. From then on they share their counters: with
  the first rotation these move out of the record.

  KEYS[1]   record of the old key, a hash of short fields, KEYS[2] its long fields, a hash
  KEYS[3]   record of the new key, KEYS[4] its long fields: the same
  KEYS[5]   hashes of keys by id, a hash, as find-key-hash.lua says
  KEYS[6]   APIs by id, a hash
  KEYS[7]   keys of all APIs, a sorted set of "<apiId> <keyId>", each with score 0
  KEYS[8]   keys that have an identity, a sorted set of "<apiId> <identityId> <keyId>", each with score 0
  KEYS[9]   uses that do not lie with a key, by the id of their owner, a hash
  KEYS[10]  counters that the keys share: how many share them in "sharers", and the windows, a hash
  KEYS[11]  audit log by id, a hash, KEYS[12] its lists, a sorted set
  ARGV[1]   id of the old key
  ARGV[2]   expected version
  ARGV[3]   id of the new key, ARGV[4] hash that it is kept under, ARGV[5] its version
  ARGV[6]   id of the counters
  ARGV[7]   Unix epoch ms at which the old key expires, ARGV[8] the same of this change
  ARGV[9]   longest value of a short field, in bytes
  ARGV[10]  id of the identity of the new key, or ""
  ARGV[11]  a count of fields of the new key, name and value of each
  then      entries of the log
  Returns   {"NOT_FOUND"}, {"STALE"}, {"CORRUPT"}, {"HASH_TAKEN"}, {"ID_TAKEN"} or {"ROTATED"}
  Mirrors   KeyStore.rotateKey in packages/core/src/store.ts
]]
-- include whole.lua
-- include uses-apart.lua
-- include put-field.lua
-- include write-log.lua
local SHORT, newId, countersId = tonumber(ARGV[9]), ARGV[3], ARGV[6]
local key = redis.call("HMGET", KEYS[1], "stamp", "remaining", "refilledAt", "api", "counters", "roles", "permissions")
if not key[1] then return { "NOT_FOUND" } end
local id, version = string.match(key[1], "^([^ ]*) (%d+)$")
if id and id ~= ARGV[1] then return { "NOT_FOUND" } end
if redis.call("HEXISTS", KEYS[6], key[4] or "") == 0 then return { "NOT_FOUND" } end
if not whole(version) then return { "CORRUPT" } end
if version ~= ARGV[2] then return { "STALE" } end
if redis.call("EXISTS", KEYS[3]) == 1 then return { "HASH_TAKEN" } end
if redis.call("HEXISTS", KEYS[5], newId) == 1 then return { "ID_TAKEN" } end
local hash = string.match(redis.call("HGET", KEYS[5], ARGV[1]) or "", "([^ ]+)$")
local sharers = redis.call("HGET", KEYS[10], "sharers")
local refilledAt, remaining
if key[5] then
  refilledAt, remaining = unpackUses(redis.call("HGET", KEYS[9], key[5]))
  if key[5] ~= countersId or not whole(sharers) then return { "CORRUPT" } end
else
  refilledAt, remaining = whole(key[3]), whole(key[2])
  if key[2] and not remaining then return { "CORRUPT" } end
end
if not (refilledAt and hash) then return { "CORRUPT" } end
local roles = key[6] or redis.call("HGET", KEYS[2], "roles")
local permissions = key[7] or redis.call("HGET", KEYS[2], "permissions")
redis.call("HEXISTS", KEYS[2], "")
redis.call("ZCARD", KEYS[7])
redis.call("ZCARD", KEYS[8])
redis.call("HEXISTS", KEYS[9], "")
checkLog(KEYS[11], KEYS[12])

-- 1. The counters.
if not key[5] then
  redis.call("DEL", KEYS[10])
  redis.call("HSET", KEYS[9], countersId, packUses(remaining, refilledAt))
  local flat = redis.call("HGETALL", KEYS[1])
  for at = 1, #flat, 2 do
    if string.sub(flat[at], 1, 2) == "k:" then
      redis.call("HSET", KEYS[10], flat[at], flat[at + 1])
      redis.call("HDEL", KEYS[1], flat[at])
    end
  end
  redis.call("HDEL", KEYS[1], "remaining", "refilledAt")
  redis.call("HSET", KEYS[1], "counters", countersId)
  redis.call("HSET", KEYS[5], ARGV[1], countersId .. " " .. hash)
end
redis.call("HSET", KEYS[10], "sharers", digits((key[5] and whole(sharers) or 1) + 1))

-- 2. The old key.
redis.call("HSET", KEYS[1], "stamp", id .. " " .. digits(tonumber(version) + 1))
put(KEYS[1], KEYS[2], "rotatedTo", newId, SHORT)
redis.call("HSET", KEYS[1], "expiresAt", ARGV[7], "updatedAt", ARGV[8])

-- 3. The new one.
redis.call("DEL", KEYS[4])
redis.call("HSET", KEYS[3], "stamp", newId .. " " .. ARGV[5], "api", key[4], "counters", countersId)
local fieldsEnd = 11 + 2 * tonumber(ARGV[11])
for at = 12, fieldsEnd, 2 do put(KEYS[3], KEYS[4], ARGV[at], ARGV[at + 1], SHORT) end
if roles then put(KEYS[3], KEYS[4], "roles", roles, SHORT) end
if permissions then put(KEYS[3], KEYS[4], "permissions", permissions, SHORT) end
redis.call("HSET", KEYS[5], newId, countersId .. " " .. ARGV[4])
redis.call("ZADD", KEYS[7], "0", key[4] .. " " .. newId)
if ARGV[10] ~= "" then
  redis.call("HSET", KEYS[3], "identity", ARGV[10])
  redis.call("ZADD", KEYS[8], "0", key[4] .. " " .. ARGV[10] .. " " .. newId)
end
writeLog(fieldsEnd + 1, KEYS[11], KEYS[12])
return { "ROTATED" }
