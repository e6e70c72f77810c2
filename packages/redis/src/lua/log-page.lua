#!lua flags=allow-oom
--[[
  The next entries of the audit log, in the order of their versions.

  KEYS[1]  workspace, a hash: "revision", "entries", the highest version that an entry ever had
  KEYS[2]  entries by version, KEYS[3] those from before there were numbers, KEYS[4] all of them, sorted sets; the latter two with score 0
  ARGV[1]  lowest version, ARGV[2] the lowest id among those from before, in the syntax of ZRANGEBYLEX
  ARGV[3]  most ids to return, 1 to 1001
  Returns  {revision, size, {id …}, highest version}
  Mirrors  KeyStore.page in packages/core/src/store/key-store.ts, its first step, with `from`
]]
local call = redis.call
local last, most, found = call("HGET", KEYS[1], "entries"), tonumber(ARGV[3]), {}
if ARGV[1] == "1" then
  -- If nothing was written since there are numbers, all entries are from before.
  local key = last and KEYS[3] or KEYS[4]
  found = call("ZRANGEBYLEX", key, ARGV[2], "+", "LIMIT", "0", ARGV[3])
end
for _, id in ipairs(call("ZRANGEBYSCORE", KEYS[2], ARGV[1], "+inf", "LIMIT", "0", most - #found)) do found[#found + 1] = id end
return { call("HGET", KEYS[1], "revision") or "0", call("ZCARD", KEYS[4]), found, last or "1" }
