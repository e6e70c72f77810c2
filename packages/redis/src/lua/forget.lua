#!lua flags=allow-oom
--[[
  Forgets Redis keys of a workspace. Allowed to a server without memory: it frees some.

  KEYS[1]  name of a key of any type; any number of them
  ARGV[1]  optional, "unless": forgets nothing while KEYS[1], a sorted set, is there
  Returns  "OK", or "AGAIN" where it was there
  Mirrors  KeyStore.forget in packages/core/src/store/key-store.ts, a part of one step
]]
if ARGV[1] == "unless" and redis.call("ZCARD", KEYS[1]) > 0 then return "AGAIN" end
for _, key in ipairs(KEYS) do redis.call("UNLINK", key) end
return "OK"
