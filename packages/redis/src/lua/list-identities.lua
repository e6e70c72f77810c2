#!lua flags=allow-oom
--[[
  One page of identities.

  KEYS[1]  ids of all identities, a sorted set, each with score 0
  KEYS[2]  identities by id, a hash
  ARGV[1]  where the page begins, as ZRANGEBYLEX takes it
  ARGV[2]  most items to answer, 1 to 101
  Returns  {number of identities, id, record, id, record …}
  Mirrors  KeyStore.listIdentities in packages/core/src/store.ts
]]
local reply = { string.format("%d", redis.call("ZCARD", KEYS[1])) }
local ids = redis.call("ZRANGEBYLEX", KEYS[1], ARGV[1], "+", "LIMIT", "0", ARGV[2])
if #ids == 0 then return reply end
local identities = redis.call("HMGET", KEYS[2], unpack(ids))
for number, id in ipairs(ids) do
  reply[#reply + 1] = id
  reply[#reply + 1] = identities[number] or ""
end
return reply
