#!lua flags=allow-oom
--[[
  Deletes Redis keys of a workspace. A server that is out of memory runs it: it frees some.

  KEYS[1]  a key of any type; any number of them
  ARGV[1]  optional, "unless": deletes nothing while KEYS[1], a sorted set, exists
  Returns  "OK", or "AGAIN" if it exists
  Mirrors  KeyStore.forget in packages/core/src/store/key-store.ts, a part of one step
]]
if ARGV[1] == "unless" and redis.call("ZCARD", KEYS[1]) > 0 then return "AGAIN" end
for _, key in ipairs(KEYS) do redis.call("UNLINK", key) end
return "OK"
