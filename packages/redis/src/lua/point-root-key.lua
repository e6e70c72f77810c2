#!lua
--[[
  Writes where a root key is found. The first step of two: a pointer to a record that was never written finds nothing.

  KEYS[1]  workspace of the root key, a string
  ARGV[1]  id of the workspace
  Returns  {"OK"} or {"TAKEN"} when it points to another workspace
  Mirrors  KeyStore.insertRootKey in packages/core/src/store.ts
]]
local known = redis.call("GET", KEYS[1])
if known then return { known == ARGV[1] and "OK" or "TAKEN" } end
redis.call("SET", KEYS[1], ARGV[1])
return { "OK" }
