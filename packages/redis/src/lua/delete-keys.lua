#!lua flags=allow-oom
--[[
  Deletes some keys of one API with their counters, their links and their encrypted secrets. Allowed to a server without
  memory: it frees some. Bounded by its caller, so that nobody waits long behind it.

  KEYS[1]  hashes of keys by id, a hash
  KEYS[2]  keys of all APIs, a sorted set of "<apiId> <keyId>"
  KEYS[3]  keys that have an identity, a sorted set of "<apiId> <identityId> <keyId>"
  then     for each key: its record, a hash; its long fields, a hash
  ARGV[1]  id of the API
  then     for each key: its id
  Returns  {"OK", number of keys deleted}
  Mirrors  KeyStore.deleteKeys in packages/core/src/store.ts, its second step
]]
local deleted = 0
for number = 1, #ARGV - 1 do
  local id = ARGV[number + 1]
  local key = redis.call("HMGET", KEYS[2 + number * 2], "stamp", "identity")
  local member = ARGV[1] .. " " .. id
  -- The entry of the list is what counts: whoever takes it out has deleted the key.
  deleted = deleted + redis.call("ZREM", KEYS[2], member)
  if key[2] then redis.call("ZREM", KEYS[3], ARGV[1] .. " " .. key[2] .. " " .. id) end
  redis.call("HDEL", KEYS[1], id)
  -- The hash may have gone to another key since.
  if string.match(key[1] or "", "^[^ ]*") == id then
    redis.call("DEL", KEYS[2 + number * 2], KEYS[3 + number * 2])
  end
end
return { "OK", string.format("%d", deleted) }
