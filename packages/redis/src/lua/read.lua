#!lua flags=allow-oom
--[[
  Reads records with their counters and the identity that each links to, as one snapshot.

  Not marked as a script without writes, though it makes none: a server that has become a replica then refuses it.

  KEYS[1]  revision of the workspace, a string
  KEYS[2]  identities, a hash
  KEYS[3]  addresses of keys by id, a hash, with "<id> t" and, for counters that keys share, "<id> u"
  then     for each want what its letter names
  ARGV[1]  a letter for each want: "k" a key at a known address, KEYS: its record, a hash; "i" a key whose address is to be told;
           "r" a record of another kind, KEYS: the hash of its kind; "c" a claim, KEYS: hash of claims, hash of the kind;
           "h" a claim of a key, KEYS: the record at the address that the claim gives, hash of claims
  ARGV[2]  and on, for each want its id, or the value of the claim
  Returns  {revision, then for each want two items: false, or {address}, or {address, id} where a key has to be read at that
           address, or "<id> <version> <link> <usedAt> <id of shared counters> <counters>", a line feed and the body, what is
           absent being empty; and the same or false for the identity that it links to}
  Mirrors  KeyStore.read in packages/core/src/store/key-store.ts
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, find, byte, concat = string.match, string.find, string.byte, table.concat
-- include record.lua

local function text(id, version, link, usedAt, shared, counters, body)
  local usage = counters and (match(counters, "^%S+ %S+ %S+") or "?") or ""
  version = match(version or "", "^%d+$") or "0"
  return concat({ id, version, link or "", usedAt or "", shared or "", usage }, " ") .. "\n" .. (body or "")
end

local function other(home, id)
  local fields = call("HMGET", home, id, id .. " t", id .. " u", id .. " b")
  if not fields[1] then return false, false end
  local version, link, mark, body = unpackHead(fields[1])
  local counters = mark == OWN and fields[3]
  if byte(mark) == SHARED then counters = call("HGET", home, sub(mark, 2) .. " u") end
  return text(id, version, link, fields[2], nil, counters, body or fields[4]), link
end

local function identity(id)
  if not id or id == "" then return false end
  return (other(KEYS[2], id))
end

-- A record is never looked for at two addresses: whoever asks is told the other one, and asks again.
-- claims: where the name was claimed by which the record is read, instead of by its id.
local function key(home, id, claims, value)
  local fields = call("HMGET", home, "v", "l", "s", "u", "b", "r", "0", "1", "2", "3", "4", "5")
  local stamp = fields[1]
  if claims and stamp and not fields[6] then
    id = match(stamp, "^(%S+) ")
    if not id then return "CORRUPT", false end
  elseif claims then
    id = call("HGET", claims, value)
    local address = id and call("HGET", KEYS[3], id)
    return address and { address, id }, false
  end
  if not stamp or sub(stamp, 1, #id + 1) ~= id .. " " then
    local address = call("HGET", KEYS[3], id)
    return address and { address }, false
  end
  local counters, body, last = fields[4], fields[5], 7
  if fields[3] then counters = call("HGET", KEYS[3], fields[3] .. " u") end
  while fields[last] do last = last + 1 end
  if not body then body = concat(fields, "", 7, last - 1) end
  local version, usedAt = sub(stamp, #id + 2), call("HGET", KEYS[3], id .. " t")
  return text(id, version, fields[2], usedAt, fields[3], counters, body), identity(fields[2])
end

local revision, ops, nextKey = call("GET", KEYS[1]) or "0", ARGV[1], 3
local function take()
  nextKey = nextKey + 1
  return KEYS[nextKey]
end

local reply = { revision }
for want = 1, #ops do
  local op, name = sub(ops, want, want), ARGV[want + 1]
  local found, linked = false, false
  if op == "k" then
    found, linked = key(take(), name)
  elseif op == "i" then
    local address = call("HGET", KEYS[3], name)
    found = address and { address }
  elseif op == "h" then
    local home = take()
    found, linked = key(home, nil, take(), name)
    if found == "CORRUPT" then return found end
  else
    local claims = op == "c" and take()
    local home = take()
    local id = name
    if claims then id = call("HGET", claims, name) end
    if id then
      local link
      found, link = other(home, id)
      linked = identity(link)
    end
  end
  reply[want * 2], reply[want * 2 + 1] = found or false, linked
end
return reply
