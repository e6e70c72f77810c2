#!lua flags=allow-oom
--[[
  Deletes the record of a root key. The first and deciding step: a pointer alone finds nothing. Allowed to a server without
  memory: access must be revocable at any time.

  KEYS[1]  root keys by hash of the secret, a hash
  KEYS[2]  all root keys, a sorted set of "<id> <hash>", each with score 0
  KEYS[3]  audit log by id, a hash, KEYS[4] its lists, a sorted set
  ARGV[1]  id of the root key
  then     entries of the log
  Returns  {"NOT_FOUND"} or {"DELETED", hash of the secret}
  Mirrors  KeyStore.deleteRootKey in packages/core/src/store.ts
]]
-- include write-log.lua
-- "!" is the character that follows the space: the end of all that begin with the id.
local found = redis.call("ZRANGEBYLEX", KEYS[2], "[" .. ARGV[1] .. " ", "(" .. ARGV[1] .. "!", "LIMIT", "0", "1")
if not found[1] then return { "NOT_FOUND" } end
local hash = string.match(found[1], "([^ ]*)$")
redis.call("HEXISTS", KEYS[1], hash)
checkLog(KEYS[3], KEYS[4])

redis.call("HDEL", KEYS[1], hash)
redis.call("ZREM", KEYS[2], found[1])
writeLog(2, KEYS[3], KEYS[4])
return { "DELETED", hash }
