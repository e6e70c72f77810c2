#!lua flags=allow-oom
--[[
  Reads an API.

  KEYS[1]  APIs by id, a hash
  ARGV[1]  id of the API
  Returns  {} or {record}
  Mirrors  KeyStore.getApi in packages/core/src/store.ts
]]
local api = redis.call("HGET", KEYS[1], ARGV[1])
if not api then return {} end
return { api }
