#!lua flags=allow-oom
--[[
  The ids of the holds beside the counters of a record; or holds by their ids.

  KEYS[1]  workspace, a hash: counters that records share
  KEYS[2]  holds, a hash, KEYS[3] their ends, a sorted set
  KEYS[4]  the hash that the record is in
  ARGV[1]  id of the record; then none, or the ids of the wanted holds
  Returns  {id …} in no order, or for each wanted hold its text as in hold-sums.lua, false if it is gone
  Mirrors  KeyStore.holds in packages/core/src/store/key-store.ts
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, sub = string.match, string.sub

local reply = {}
if ARGV[2] then
  for number = 2, #ARGV do reply[number - 1] = call("HGET", KEYS[2], ARGV[number]) end
  return reply
end
local text = call("HGET", KEYS[4], ARGV[1]) or ""
local shared = match(text, "^%S* %S* @([^\n]*)")
if shared then text = call("HGET", KEYS[1], shared) or "" end
local name = match(text, "^%S* %S* [^\n]- =(%d+)/")
if not name then return reply end
for number, entry in ipairs(call("ZRANGEBYLEX", KEYS[3], "[" .. name .. " ", "(" .. name .. "!")) do
  reply[number] = sub(entry, #name + 18)
end
return reply
