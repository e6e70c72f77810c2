#!lua flags=allow-oom
--[[
  The hash under which a key is kept. It never changes while the key lives.

  KEYS[1]  hashes of keys by id, a hash
  ARGV[1]  id of the key
  Returns  {} or {hash}
  Mirrors  KeyStore.getKey in packages/core/src/store.ts, its first step
]]
local hash = redis.call("HGET", KEYS[1], ARGV[1])
if not hash then return {} end
return { hash }
