#!lua
--[[
  Writes an API.

  KEYS[1]  APIs by id, a hash
  ARGV[1]  id of the API
  ARGV[2]  the record, opaque here
  Returns  {"OK"} or {"ID_TAKEN"}
  Mirrors  KeyStore.insertApi in packages/core/src/store.ts
]]
if redis.call("HSETNX", KEYS[1], ARGV[1], ARGV[2]) == 0 then return { "ID_TAKEN" } end
return { "OK" }
