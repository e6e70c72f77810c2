#!lua flags=allow-oom
--[[
  Deletes a role and raises the epoch of its workspace. Records of keys go on naming it, and it is passed
  over where they are read. Allowed to a server without memory: access must be revocable at any time.

  KEYS[1]  roles by id, a hash
  KEYS[2]  ids of roles by name, a hash
  KEYS[3]  workspace, a hash
  KEYS[4]  audit log by id, a hash, KEYS[5] its lists, a sorted set
  ARGV[1]  id of the role
  ARGV[2]  its name, which never changes
  then     entries of the log
  Returns  {"NOT_FOUND"}, {"CORRUPT"} or {"DELETED"}
  Mirrors  KeyStore.deleteRole in packages/core/src/store.ts
]]
-- include whole.lua
-- include raise-epoch.lua
-- include write-log.lua
-- include delete-grant.lua
return deleteGrant()
