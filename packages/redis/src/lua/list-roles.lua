#!lua flags=allow-oom
--[[
  Reads all roles and all permissions of a workspace, as one snapshot.

  KEYS[1]  roles by id, a hash
  KEYS[2]  permissions by id, a hash
  Returns  {{id, record, id, record …}, {id, record, id, record …}}, in no order
  Mirrors  KeyStore.listRoles in packages/core/src/store.ts
]]
return { redis.call("HGETALL", KEYS[1]), redis.call("HGETALL", KEYS[2]) }
