#!lua flags=allow-oom
--[[
  The first keys of an API, also of one that was deleted, with the hashes they are kept under.

  KEYS[1]  keys of all APIs: a sorted set of "<apiId> <keyId>", each with score 0
  KEYS[2]  hashes of keys by id, a hash
  ARGV[1]  where the keys of the API begin, as ZRANGEBYLEX takes it
  ARGV[2]  where they end
  ARGV[3]  most items to answer, 1 to 1001
  Returns  {"CORRUPT"} or {"OK", id, hash, id, hash …}
  Mirrors  KeyStore.deleteKeys in packages/core/src/store.ts, its first step
]]
local reply = { "OK" }
local members = redis.call("ZRANGEBYLEX", KEYS[1], ARGV[1], ARGV[2], "LIMIT", "0", ARGV[3])
for _, member in ipairs(members) do
  local id = string.match(member, "([^ ]+)$")
  if not id then return { "CORRUPT" } end
  reply[#reply + 1] = id
  reply[#reply + 1] = redis.call("HGET", KEYS[2], id) or ""
end
return reply
