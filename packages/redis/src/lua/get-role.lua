#!lua flags=allow-oom
--[[
  Reads a role with the permissions that it gives, as one snapshot.

  KEYS[1]  roles by id, a hash: version, ids of permissions separated by spaces and the rest, each on a line
  KEYS[2]  permissions by id, a hash
  ARGV[1]  id of the role
  Returns  {} or {record, {id, record, id, record …}}: those permissions that exist
  Mirrors  KeyStore.getRole in packages/core/src/store.ts
]]
local role = redis.call("HGET", KEYS[1], ARGV[1])
if not role then return {} end
local permissions = {}
for id in string.gmatch(string.match(role, "^[^\n]*\n([^\n]*)") or "", "%S+") do
  local permission = redis.call("HGET", KEYS[2], id)
  if permission then
    permissions[#permissions + 1] = id
    permissions[#permissions + 1] = permission
  end
end
return { role, permissions }
