#!lua flags=allow-oom
--[[
  Reads all permissions of a workspace.

  KEYS[1]  permissions by id, a hash
  Returns  {id, record, id, record …}, in no order
  Mirrors  KeyStore.listPermissions in packages/core/src/store.ts
]]
return redis.call("HGETALL", KEYS[1])
