#!lua flags=allow-oom
--[[
  Reads counters of one subject, as one snapshot.

  KEYS[n]  counters of the n-th day, a hash; KEYS[1] is that of the first
  Returns  for each day: {field, count, field, count …}, in no order
  Mirrors  KeyStore.getVerifications in packages/core/src/store.ts
]]
local reply = {}
for number = 1, #KEYS do reply[number] = redis.call("HGETALL", KEYS[number]) end
return reply
