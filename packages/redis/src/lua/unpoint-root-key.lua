#!lua flags=allow-oom
--[[
  Forgets where a root key was found. The second step of two, after its record is gone.

  KEYS[1]  workspace of the root key, a string
  ARGV[1]  id of the workspace
  Returns  {"OK"}
  Mirrors  KeyStore.deleteRootKey in packages/core/src/store.ts
]]
if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("DEL", KEYS[1]) end
return { "OK" }
