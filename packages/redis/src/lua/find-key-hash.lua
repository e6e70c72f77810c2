#!lua flags=allow-oom
--[[
  Where a key is kept.

  KEYS[1]  hashes of keys by id, a hash: the hash of the secret, which never changes while the key lives; in front of it
           the id of the counters that it shares and a space, where it does
  ARGV[1]  id of the key
  Returns  {} or {hash}
  Mirrors  KeyStore.getKey in packages/core/src/store.ts, its first step
]]
local hash = redis.call("HGET", KEYS[1], ARGV[1])
if not hash then return {} end
return { hash }
