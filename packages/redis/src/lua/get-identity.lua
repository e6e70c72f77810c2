#!lua flags=allow-oom
--[[
  Reads an identity with its uses, by its id or by the caller's own.

  KEYS[1]  identities by id, a hash
  KEYS[2]  ids of identities by digest of the external id, a hash
  KEYS[3]  uses that do not lie with a key, by the id of their owner, a hash
  ARGV[1]  id of the identity, or ""
  ARGV[2]  digest of the external id, used where ARGV[1] is ""
  Returns  {} or {id, record, uses or ""}
  Mirrors  KeyStore.getIdentity in packages/core/src/store.ts
]]
local id = ARGV[1]
if id == "" then id = redis.call("HGET", KEYS[2], ARGV[2]) or "" end
local identity = redis.call("HGET", KEYS[1], id)
if not identity then return {} end
return { id, identity, redis.call("HGET", KEYS[3], id) or "" }
