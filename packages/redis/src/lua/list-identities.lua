#!lua flags=allow-oom
--[[
  One page of identities with their uses.

  KEYS[1]  ids of all identities, a sorted set, each with score 0
  KEYS[2]  identities by id, a hash
  KEYS[3]  uses that do not lie with a key, by the id of their owner, a hash
  ARGV[1]  where the page begins, as ZRANGEBYLEX takes it
  ARGV[2]  most items to answer, 1 to 101
  Returns  {number of identities, id, record, uses or "", id, record, uses or "" …}
  Mirrors  KeyStore.listIdentities in packages/core/src/store.ts
]]
local reply = { string.format("%d", redis.call("ZCARD", KEYS[1])) }
for _, id in ipairs(redis.call("ZRANGEBYLEX", KEYS[1], ARGV[1], "+", "LIMIT", "0", ARGV[2])) do
  reply[#reply + 1] = id
  reply[#reply + 1] = redis.call("HGET", KEYS[2], id) or ""
  reply[#reply + 1] = redis.call("HGET", KEYS[3], id) or ""
end
return reply
