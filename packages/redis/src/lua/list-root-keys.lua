#!lua flags=allow-oom
--[[
  One page of root keys.

  KEYS[1]  all root keys, a sorted set of "<id> <hash>", each with score 0
  KEYS[2]  root keys by hash of the secret, a hash
  ARGV[1]  where the page begins, as ZRANGEBYLEX takes it
  ARGV[2]  most items to answer, 1 to 101
  Returns  {number of root keys, hash, record, hash, record …}
  Mirrors  KeyStore.listRootKeys in packages/core/src/store.ts
]]
local reply = { string.format("%d", redis.call("ZCARD", KEYS[1])) }
for _, member in ipairs(redis.call("ZRANGEBYLEX", KEYS[1], ARGV[1], "+", "LIMIT", "0", ARGV[2])) do
  local hash = string.match(member, "([^ ]*)$")
  reply[#reply + 1] = hash
  reply[#reply + 1] = redis.call("HGET", KEYS[2], hash) or ""
end
return reply
