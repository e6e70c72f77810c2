#!lua flags=allow-oom
--[[
  Forgets Redis keys of a workspace. Allowed to a server without memory: it frees some.

  KEYS[1]  name of a key of any type; any number of them
  Returns  "OK"
  Mirrors  KeyStore.forget in packages/core/src/store/key-store.ts, a part of one step
]]
for _, key in ipairs(KEYS) do redis.call("UNLINK", key) end
return "OK"
