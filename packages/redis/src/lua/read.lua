#!lua flags=allow-oom
--[[
  Reads records with their counters and the identity that each links to, as one snapshot.

  Not flagged no-writes, though it writes nothing: that way, a server that has become a replica refuses it.

  KEYS[1]  workspace, a hash: "revision", and counters that records share
  KEYS[2]  identities, a hash; then for each want the keys that its letter names
  ARGV[1]  a letter for each want: "r" a record, KEYS: the hash it is in; "c" a claim, KEYS: hash of claims; "h" no want, but where the
           records of the claims that follow are, KEYS: these hashes
  ARGV[2]  and further, for each "r" its id, "c" the value of the claim, "h" the number of hashes
  Returns  {revision, then for each want two items: false, or {stored text, latest use, body if it is apart, shared counters, id}; and the
           same of the identity that it links to}
  Mirrors  KeyStore.read in packages/core/src/store/key-store.ts
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, byte, sub = string.match, string.byte, string.sub
-- include record.lua

local function load(home, id)
  local fields = call("HMGET", home, id, id .. " t", id .. " b")
  local shared = fields[1] and match(fields[1], "^%S* %S* @([^\n]*)")
  fields[4] = shared and call("HGET", KEYS[1], shared) or false
  fields[5] = id
  return fields[1] and fields
end

local reply, nextKey, firstHome, homes = { call("HGET", KEYS[1], "revision") or "0" }, 3, nil, nil
for at = 2, #ARGV do
  local letter, arg = sub(ARGV[1], at - 1, at - 1), ARGV[at]
  if letter == "h" then
    firstHome, homes = nextKey, tonumber(arg)
    nextKey = nextKey + homes
  else
    local home, id = KEYS[nextKey], arg
    nextKey = nextKey + 1
    if letter == "c" then
      id = call("HGET", home, arg)
      home = id and homeOf(id, firstHome, homes)
    end
    local found = id and load(home, id)
    local link = found and match(found[1], "^%S* (%S+)")
    reply[#reply + 1] = found or false
    reply[#reply + 1] = link and load(KEYS[2], link) or false
  end
end
return reply
