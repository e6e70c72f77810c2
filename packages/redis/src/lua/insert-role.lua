#!lua
--[[
  Writes a role with its permissions, unless its name is taken or a permission is missing.

  KEYS[1]  roles by id, a hash: version, ids of permissions separated by spaces and the rest, each on a line
  KEYS[2]  ids of roles by name, a hash
  KEYS[3]  permissions by id, a hash
  KEYS[4]  ids of permissions by name, a hash
  KEYS[5]  audit log by id, a hash, KEYS[6] its lists, a sorted set
  ARGV[1]  id of the role
  ARGV[2]  its name
  ARGV[3]  its version
  ARGV[4]  the rest of the record, one line, opaque here
  then     the permissions, entries of the log
  Returns  {"INSERTED"}, {"NAME_TAKEN"} or {"MISSING", "", numbers of the references that are missing}
  Mirrors  KeyStore.insertRole in packages/core/src/store.ts
]]
-- include whole.lua
-- include resolve-grants.lua
-- include write-log.lua
if redis.call("HEXISTS", KEYS[2], ARGV[2]) == 1 then return { "NAME_TAKEN" } end
redis.call("HEXISTS", KEYS[1], ARGV[1])
checkLog(KEYS[5], KEYS[6])
local permissions = resolve(5, KEYS[3], KEYS[4])
if #permissions.missing > 0 then return { "MISSING", "", table.concat(permissions.missing, " ") } end

local created = {}
create(permissions, KEYS[3], KEYS[4], created)
redis.call("HSET", KEYS[1], ARGV[1], table.concat({ ARGV[3], allIds(permissions), ARGV[4] }, "\n"))
redis.call("HSET", KEYS[2], ARGV[2], ARGV[1])
writeLog(permissions.ends + 1, KEYS[5], KEYS[6], created)
return { "INSERTED" }
