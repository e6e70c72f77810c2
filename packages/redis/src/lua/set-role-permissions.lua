#!lua
--[[
  Makes these the permissions of a role and raises its version and the epoch of its workspace, if the version is the
  expected one and none is missing.

  KEYS[1]  roles by id, a hash: version, ids of permissions separated by spaces and the rest, each on a line
  KEYS[2]  permissions by id, a hash
  KEYS[3]  ids of permissions by name, a hash
  KEYS[4]  workspace, a hash
  KEYS[5]  audit log by id, a hash, KEYS[6] its lists, a sorted set
  ARGV[1]  id of the role
  ARGV[2]  expected version
  then     the permissions, entries of the log
  Returns  {"NOT_FOUND"}, {"STALE"}, {"CORRUPT"}, {"MISSING", "", numbers of the references that are missing} or {"UPDATED"}
  Mirrors  KeyStore.setRolePermissions in packages/core/src/store.ts
]]
-- include whole.lua
-- include raise-epoch.lua
-- include resolve-grants.lua
-- include write-log.lua
local stored = redis.call("HGET", KEYS[1], ARGV[1])
if not stored then return { "NOT_FOUND" } end
local version, rest = string.match(stored, "^(%d+)\n[^\n]*\n([^\n]*)$")
if not whole(version) then return { "CORRUPT" } end
if version ~= ARGV[2] then return { "STALE" } end
local raised = raisedEpoch(KEYS[4])
if not raised then return { "CORRUPT" } end
checkLog(KEYS[5], KEYS[6])
local permissions = resolve(3, KEYS[2], KEYS[3])
if #permissions.missing > 0 then return { "MISSING", "", table.concat(permissions.missing, " ") } end

local created = {}
create(permissions, KEYS[2], KEYS[3], created)
local record = { digits(tonumber(version) + 1), allIds(permissions), rest }
redis.call("HSET", KEYS[1], ARGV[1], table.concat(record, "\n"))
redis.call("HSET", KEYS[4], "epoch", raised)
writeLog(permissions.ends + 1, KEYS[5], KEYS[6], created)
return { "UPDATED" }
