#!lua flags=allow-oom
--[[
  Reads a permission.

  KEYS[1]  permissions by id, a hash
  ARGV[1]  id of the permission
  Returns  {} or {record}
  Mirrors  KeyStore.getPermission in packages/core/src/store.ts
]]
local permission = redis.call("HGET", KEYS[1], ARGV[1])
if not permission then return {} end
return { permission }
