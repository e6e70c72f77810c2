#!lua
--[[
  Writes the record of a root key. The second and deciding step: the pointer to its workspace was written before.

  KEYS[1]  root keys by hash of the secret, a hash
  ARGV[1]  hash of the secret
  ARGV[2]  the record, opaque here
  Returns  {"OK"}
  Mirrors  KeyStore.insertRootKey in packages/core/src/store.ts
]]
redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
return { "OK" }
