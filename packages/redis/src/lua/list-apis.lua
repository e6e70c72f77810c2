#!lua flags=allow-oom
--[[
  One page of APIs.

  KEYS[1]  ids of all APIs, a sorted set, each with score 0
  KEYS[2]  APIs by id, a hash
  ARGV[1]  where the page begins, as ZRANGEBYLEX takes it
  ARGV[2]  most items to answer, 1 to 101
  Returns  {number of APIs, id, record, id, record …}
  Mirrors  KeyStore.listApis in packages/core/src/store.ts
]]
local reply = { string.format("%d", redis.call("ZCARD", KEYS[1])) }
local ids = redis.call("ZRANGEBYLEX", KEYS[1], ARGV[1], "+", "LIMIT", "0", ARGV[2])
for _, id in ipairs(ids) do
  reply[#reply + 1] = id
  reply[#reply + 1] = redis.call("HGET", KEYS[2], id) or ""
end
return reply
