#!lua flags=allow-oom
--[[
  Reads a root key with its workspace, as one snapshot.

  KEYS[1]  root keys by hash of the secret, a hash
  KEYS[2]  workspace, a hash
  ARGV[1]  hash of the secret
  Returns  {} or {record, enabled or "", epoch or "", name or ""}
  Mirrors  KeyStore.findRootKey in packages/core/src/store.ts
]]
local rootKey = redis.call("HGET", KEYS[1], ARGV[1])
if not rootKey then return {} end
local workspace = redis.call("HMGET", KEYS[2], "enabled", "epoch", "name")
return { rootKey, workspace[1] or "", workspace[2] or "", workspace[3] or "" }
