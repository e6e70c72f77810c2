#!lua flags=allow-oom
--[[
  Reads a workspace.

  KEYS[1]  workspace, a hash
  Returns  {enabled or "", epoch or "", name or ""}: "1" or "0"; a whole number; opaque here
  Mirrors  KeyStore.getWorkspace in packages/core/src/store.ts
]]
local workspace = redis.call("HMGET", KEYS[1], "enabled", "epoch", "name")
return { workspace[1] or "", workspace[2] or "", workspace[3] or "" }
