#!lua flags=allow-oom
--[[
  One page of the ids of an API's keys, with what find-key-hash.lua answers of each.

  KEYS[1]  APIs by id, a hash
  KEYS[2]  keys of all APIs: a sorted set of "<apiId> <keyId>", each with score 0
  KEYS[3]  the list to page through: KEYS[2], or a sorted set of "<apiId> <identityId> <keyId>", each with score 0
  KEYS[4]  hashes of keys by id, a hash
  KEYS[5]  identities by id, a hash
  ARGV[1]  id of the API
  ARGV[2]  where the page begins, as ZRANGEBYLEX takes it
  ARGV[3]  where the list ends, as ZRANGEBYLEX takes it
  ARGV[4]  most items to answer, 1 to 101
  ARGV[5]  where the keys of the API begin in KEYS[2]
  ARGV[6]  where they end
  ARGV[7]  id of the identity whose keys are asked for, or ""; one that was deleted has none
  Returns  {"NO_API"}, {"CORRUPT"} or {"OK", number of keys of the API, id, hash, id, hash …}
  Mirrors  KeyStore.listKeys in packages/core/src/store.ts, its first step
]]
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then return { "NO_API" } end
local total = redis.call("ZLEXCOUNT", KEYS[2], ARGV[5], ARGV[6])
local reply = { "OK", string.format("%d", total) }
if ARGV[7] ~= "" and redis.call("HEXISTS", KEYS[5], ARGV[7]) == 0 then return reply end
local members = redis.call("ZRANGEBYLEX", KEYS[3], ARGV[2], ARGV[3], "LIMIT", "0", ARGV[4])
for _, member in ipairs(members) do
  local id = string.match(member, "([^ ]+)$")
  if not id then return { "CORRUPT" } end
  reply[#reply + 1] = id
  reply[#reply + 1] = redis.call("HGET", KEYS[4], id) or ""
end
return reply
