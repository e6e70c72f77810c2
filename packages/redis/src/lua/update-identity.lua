#!lua
--[[
  Sets fields of an identity and raises its version, if it is the expected one. Windows of limits that keep their name
  and duration go on, those of others are forgotten.

  KEYS[1]  identities by id, a hash: version, limits, metadata and the rest, each on a line
  KEYS[2]  version and windows of this identity, a hash
  ARGV[1]  id of the identity
  ARGV[2]  expected version
  ARGV[3]  limits, opaque here, or "" to leave them
  ARGV[4]  metadata, opaque here, or "" to leave it
  then     where ARGV[3] is given: the fields of windows that go on
  Returns  {"NOT_FOUND"}, {"STALE"}, {"CORRUPT"} or {"UPDATED"}
  Mirrors  KeyStore.updateIdentity in packages/core/src/store.ts
]]
local stored = redis.call("HGET", KEYS[1], ARGV[1])
if not stored then return { "NOT_FOUND" } end
local version, limits, meta, rest = string.match(stored, "^(%d+)\n([^\n]*)\n([^\n]*)\n([^\n]*)$")
if not version or #version > 15 then return { "CORRUPT" } end
if version ~= ARGV[2] then return { "STALE" } end
local isKept = { version = true }
for at = 5, #ARGV do isKept[ARGV[at]] = true end
local fields = redis.call("HKEYS", KEYS[2])

local raised = string.format("%.0f", tonumber(version) + 1)
if ARGV[3] ~= "" then limits = ARGV[3] end
if ARGV[4] ~= "" then meta = ARGV[4] end
redis.call("HSET", KEYS[1], ARGV[1], table.concat({ raised, limits, meta, rest }, "\n"))
redis.call("HSET", KEYS[2], "version", raised)
if ARGV[3] ~= "" then
  for _, field in ipairs(fields) do
    if not isKept[field] then redis.call("HDEL", KEYS[2], field) end
  end
end
return { "UPDATED" }
