#!lua flags=allow-oom
--[[
  Sums of verifications by day.

  KEYS[1]  and on, sums of a subject in one day, each a hash
  Returns  {{field, sum, field, sum …} for each day}
  Mirrors  KeyStore.readStatistics in packages/core/src/store/key-store.ts
]]
local reply = {}
for day = 1, #KEYS do reply[day] = redis.call("HGETALL", KEYS[day]) end
return reply
