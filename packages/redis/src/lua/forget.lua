#!lua flags=allow-oom
--[[
  Forgets Redis keys of a workspace. Allowed to a server without memory: it frees some.

  KEYS     names of keys of any type
  Returns  "OK"
  Mirrors  KeyStore.forget in packages/core/src/store/key-store.ts, a part of one step
]]
for number = 1, #KEYS, 500 do
  redis.call("UNLINK", unpack(KEYS, number, math.min(number + 499, #KEYS)))
end
return "OK"
