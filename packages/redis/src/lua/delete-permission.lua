#!lua flags=allow-oom
--[[
  Deletes a permission and raises the epoch of its workspace. Records of keys and roles go on naming it, and it is passed
  over where they are read. Allowed to a server without memory: access must be revocable at any time.

  KEYS[1]  permissions by id, a hash
  KEYS[2]  ids of permissions by name, a hash
  KEYS[3]  workspace, a hash
  KEYS[4]  audit log by id, a hash, KEYS[5] its lists, a sorted set
  ARGV[1]  id of the permission
  ARGV[2]  its name, which never changes
  then     entries of the log
  Returns  {"NOT_FOUND"}, {"CORRUPT"} or {"DELETED"}
  Mirrors  KeyStore.deletePermission in packages/core/src/store.ts
]]
-- include whole.lua
-- include raise-epoch.lua
-- include write-log.lua
-- include delete-grant.lua
return deleteGrant()
