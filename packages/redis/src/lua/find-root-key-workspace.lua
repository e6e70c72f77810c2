#!lua flags=allow-oom
--[[
  The workspace that a root key belongs to. It never changes.

  KEYS[1]  workspace of the root key, a string
  Returns  {} or {id of the workspace}
  Mirrors  KeyStore.findRootKey in packages/core/src/store.ts, its first step
]]
local workspaceId = redis.call("GET", KEYS[1])
if not workspaceId then return {} end
return { workspaceId }
