#!lua
--[[
  Sets fields of an identity, if its version is the expected one. Windows of limits that keep their name and duration go on,
  those of others are forgotten.

  KEYS[1]  identities by id, a hash: version, limits, metadata, refill and the rest, each on a line
  KEYS[2]  version and windows of this identity, a hash
  KEYS[3]  uses that do not lie with a key, by the id of their owner, a hash
  KEYS[4]  audit log by id, a hash, KEYS[5] its lists, a sorted set
  ARGV[1]  id of the identity
  ARGV[2]  expected version
  ARGV[3]  "1" when the version rises
  ARGV[4]  limits, ARGV[5] metadata, ARGV[6] refill, each opaque here, or "" to leave it
  ARGV[7]  to ARGV[11]: change of the uses, see change-usage.lua
  ARGV[12] a count of fields of windows that go on, and their names; -1 when all do
  then     entries of the log
  Returns  {"NOT_FOUND"}, {"STALE"}, {"CORRUPT"}, {"UNLIMITED"}, {"INSUFFICIENT", uses left}, {"OVERFLOW", uses left} or
           {"UPDATED", uses left or "", instant up to which refills are settled}
  Mirrors  KeyStore.updateIdentity in packages/core/src/store.ts and changeUsage in packages/core/src/usage.ts
]]
-- include whole.lua
-- include uses-apart.lua
-- include change-usage.lua
-- include write-log.lua
local stored = redis.call("HGET", KEYS[1], ARGV[1])
if not stored then return { "NOT_FOUND" } end
local line = "([^\n]*)"
local version, limits, meta, refill, rest =
  string.match(stored, "^(%d+)\n" .. line .. "\n" .. line .. "\n" .. line .. "\n" .. line .. "$")
if not whole(version) then return { "CORRUPT" } end
if version ~= ARGV[2] then return { "STALE" } end
local refilledAt, remaining = unpackUses(redis.call("HGET", KEYS[3], ARGV[1]))
if not refilledAt then return { "CORRUPT" } end
local refusal
remaining, refilledAt, refusal = changeUsage(7, remaining, refilledAt)
if refusal then return refusal end
local kept = tonumber(ARGV[12])
local fields = kept >= 0 and redis.call("HKEYS", KEYS[2]) or {}
redis.call("HEXISTS", KEYS[2], "version")
checkLog(KEYS[4], KEYS[5])

if ARGV[3] == "1" then
  local raised = digits(tonumber(version) + 1)
  if ARGV[4] ~= "" then limits = ARGV[4] end
  if ARGV[5] ~= "" then meta = ARGV[5] end
  if ARGV[6] ~= "" then refill = ARGV[6] end
  redis.call("HSET", KEYS[1], ARGV[1], table.concat({ raised, limits, meta, refill, rest }, "\n"))
  redis.call("HSET", KEYS[2], "version", raised)
end
if ARGV[7] ~= "" then redis.call("HSET", KEYS[3], ARGV[1], packUses(remaining, refilledAt)) end
local isKept = { version = true }
for at = 13, 12 + kept do isKept[ARGV[at]] = true end
for _, field in ipairs(fields) do
  if not isKept[field] then redis.call("HDEL", KEYS[2], field) end
end
writeLog(13 + math.max(0, kept), KEYS[4], KEYS[5])
return { "UPDATED", remaining and digits(remaining) or "", digits(refilledAt) }
