#!lua
--[[
  Applies a change of a workspace: all of it or nothing.

  KEYS[1]  workspace, a hash: "revision", "entries", the highest version of an entry of the audit log, and counters that records share
  KEYS[2]  holds, a hash, KEYS[3] their ends, a sorted set, KEYS[4] entries of the audit log by version, KEYS[5] those from before there
           were numbers, KEYS[6] the list of all entries, sorted sets; then the keys that the letters name
  ARGV[1]  letters that may refuse the change, ARGV[2] letters that write; then the arguments of each letter:
           "r" a record, which has a number from then on, KEYS: the hash it is in; its id, an expectation as in holds.lua;
           "h" the hashes of the records that hold the claims that follow, KEYS: these hashes; their number; "l" a claim to release, "c" a
           claim to make, KEYS: hash of claims; value, id;
           "u" a change of counters: number of the record, change of uses as in change-usage.lua, windows that stay, each between spaces,
           or "*" for all, windows that go, or "-" for none;
           "p" a put: number of the record, version and link, body; "n" the same with new counters: "<uses left or ->
           <refilledAt> <lastRefillAt or ->"; "m" the same with sums of holds: letter of its kind as in hold-sums.lua, sums;
           "e" a put of an entry of the audit log, where version 0 means the next one; "s" a put that shares the counters of another
           record: its number; "d" a deletion: number of the record; "x" takes a member out of a list, "z" adds it, KEYS: a sorted set;
           member; "w" a window to delete, KEYS: a string; "v" the new revision
  Returns  {"OK", uses after each change of counters …}, {"STALE", index}, {"TAKEN", index}, {"REFUSED", index, kind, uses left
           or "-"} or {"CORRUPT"}
  Mirrors  KeyStore.commit and changeUsage in packages/core/src/store
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, find, sub, byte, format = string.match, string.find, string.sub, string.byte, string.format
-- include whole.lua
-- include record.lua
-- include holds.lua
-- include hold-sums.lua
-- include detach-hold.lua
-- include change-usage.lua
local LONGEST_BODY = 512

local at, nextKey, firstHome, homes = 3, 7, nil, nil
-- Writes are {hash, field, value}; moved are the shared counters among them, by their field.
local records, released, releases, claimed, claims, moved, writes = {}, {}, {}, {}, 0, {}, {}
local reply = { "OK" }

-- The field of KEYS[1] that has the counters of a record, nil if the record has its own; and their text, nil if it has none.
local function countersOf(record)
  local field = match(record.counters or "", "^@(.*)")
  if not field then return nil, record.counters end
  local text = moved[field] or call("HGET", KEYS[1], field)
  return field, text and sub(text, 3) or nil
end

-- Holds give nothing back to windows that are forgotten ("+"), or to all but those that stay ("-"). A drop replaces one of the same
-- windows.
local function addDrop(sums, mark, windows)
  local names, drops = mark .. match(string.gsub(windows, " *(%S+) *", "%1|"), "^%S*"), {}
  for drop in string.gmatch(sums.drops, "[^,]+") do
    if match(drop, "^%d*(.*)$") ~= names then drops[#drops + 1] = drop end
  end
  drops[#drops + 1] = format("%.0f", sums.next) .. names
  sums.drops = table.concat(drops, ",")
end

-- 1. Everything that may refuse the change.
for position = 1, #ARGV[1] do
  local letter, key, arg = sub(ARGV[1], position, position), KEYS[nextKey], ARGV[at]
  if letter == "r" then
    local head = call("HGET", key, arg)
    if not holds(head, ARGV[at + 1]) then return { "STALE", #records } end
    local place, counters = match(head or "", "^%S* %S* ()([^\n]*)")
    local record = { home = key, id = arg, stored = head, head = place and sub(head, 1, place - 2), counters = counters }
    record.isApart = head and not find(head, "\n", 1, true)
    records[#records + 1], nextKey, at = record, nextKey + 1, at + 2
  elseif letter == "h" then
    firstHome, homes, at = nextKey, tonumber(arg), at + 1
    nextKey = nextKey + homes
  elseif letter == "u" then
    local record = records[tonumber(arg)]
    local field, text = countersOf(record)
    local left, refilledAt, lastRefillAt, holders, rest = match(text or "", "^(%S+) (%d+) (%S+)( %d+)(.*)$")
    local remaining = left ~= "-" and whole(left) or nil
    refilledAt = whole(refilledAt)
    local sums, isWhole = sumsOf(rest or "")
    if not refilledAt or not isWhole or not (remaining or left == "-") then return { "CORRUPT" } end
    local refusal
    remaining, refilledAt, lastRefillAt, refusal = changeUsage(ARGV[at + 1], remaining, refilledAt, lastRefillAt, sums)
    if refusal then return { "REFUSED", #reply - 1, refusal, remaining and format("%.0f", remaining) or "-" } end
    local usage = (remaining and format("%.0f ", remaining) or "- ") .. format("%.0f ", refilledAt) .. lastRefillAt
    local keep, drop, kept = ARGV[at + 2], ARGV[at + 3], ""
    for window, value in string.gmatch(rest, " ([^ =]+)=(%S+)") do
      local isKept = keep == "*" or find(keep, " " .. window .. " ", 1, true)
      if isKept and not find(drop, " " .. window .. " ", 1, true) then kept = kept .. " " .. window .. "=" .. value end
    end
    if sums then
      usage = usage .. sumsText(sums)
      if keep ~= "*" then addDrop(sums, "-", keep) end
      if drop ~= "-" then addDrop(sums, "+", drop) end
      kept = kept .. sumsText(sums)
    end
    kept = match(usage, "^%S+ %S+ %S+") .. holders .. kept
    if field then moved[field] = "  " .. kept else record.counters = kept end
    local ownWrite = not field and { record.home, record.id, record.head .. " " .. kept }
    writes[#writes + 1] = ownWrite or { KEYS[1], field, moved[field] }
    reply[#reply + 1], at = usage, at + 4
  else -- l, c
    local id, holder, name = ARGV[at + 1], call("HGET", key, arg), key .. " " .. arg
    if letter == "l" then
      if holder == id then
        released[name], releases[#releases + 1] = id, { key, arg }
      end
    else
      -- A claim ends with the record that made it.
      local isFree = not holder or holder == id or released[name] == holder
      local home = not isFree and homeOf(holder, firstHome, homes)
      isFree = isFree or call("HEXISTS", home, holder) == 0
      if claimed[name] or not isFree then return { "TAKEN", claims } end
      claimed[name], claims, writes[#writes + 1] = true, claims + 1, { key, arg, id }
    end
    nextKey, at = nextKey + 1, at + 2
  end
end
-- Only to fail on a key of another type before anything is written.
call("HEXISTS", KEYS[1], "revision")
call("HEXISTS", KEYS[2], " ")
call("ZCARD", KEYS[3])
if find(ARGV[2], "e", 1, true) then
  for list = 4, 6 do call("ZCARD", KEYS[list]) end
end
local last = whole(call("HGET", KEYS[1], "entries"))
local _, lists = string.gsub(ARGV[2], "[xz]", "")
for list = nextKey, nextKey + lists - 1 do call("ZCARD", KEYS[list]) end

-- 2. Everything is checked: nothing here can fail.

-- Deleted counters take their holds along, except holds that are also beside other counters. What such a hold took from those comes back
-- when it expires.
local function forgetHolds(text)
  local name = match(text or "", " =(%d+)/")
  if not name then return end
  for _, entry in ipairs(call("ZRANGEBYLEX", KEYS[3], "[" .. name .. " ", "(" .. name .. "!")) do detachHold(name, entry) end
  call("HDEL", KEYS[2], " " .. name)
end

-- Records where counters with a name are.
local function locate(text, place)
  local name = match(text, " =(%d+)/")
  if name then call("HSET", KEYS[2], " " .. name, place) end
end

-- Adds to the number of records that share counters; the last one deletes them. Damaged counters stay: a record can be deleted whatever
-- else is wrong.
local function addHolders(field, text, by)
  local usage, holders, rest = match(text, "^(%S+ %S+ %S+) (%d+)(.*)$")
  if not holders then return end
  if holders + by == 0 then
    forgetHolds(text)
    call("HDEL", KEYS[1], field)
  else
    call("HSET", KEYS[1], field, "  " .. usage .. format(" %.0f", holders + by) .. rest)
  end
end

local function leaveCounters(record)
  local field, text = countersOf(record)
  if not field then forgetHolds(text) end
  if field and text then addHolders(field, text, -1) end
end

local function shareCounters(record, source)
  local field, text = countersOf(source)
  if not text or (field and record.counters == source.counters) then return end
  leaveCounters(record)
  if not field then
    -- A field that no counters use: the counters of a deleted record stay while another record shares them.
    field = source.id .. " u"
    while call("HEXISTS", KEYS[1], field) == 1 do field = field .. "'" end
    source.counters = "@" .. field
    call("HSET", source.home, source.id, source.head .. " " .. source.counters)
    locate(text, "w" .. field)
  end
  addHolders(field, text, 1)
  record.counters = "@" .. field
end

-- The version and link of an entry of the audit log. The first numbered entry notes the existing ones as those from before.
local function numbered(record, head)
  if not last then
    last = 1
    call("ZUNIONSTORE", KEYS[5], "1", KEYS[6])
  end
  local version, link = match(head, "^(%S*)(.*)$")
  version = tonumber(version)
  if version == 0 then version = tonumber(match(record.stored or "", "^%d+")) or last + 1 end
  last = math.max(last, version)
  call("HSET", KEYS[1], "entries", format("%.0f", last))
  if version == 1 then call("ZADD", KEYS[5], "0", record.id) else call("ZADD", KEYS[4], format("%.0f", version), record.id) end
  return format("%.0f", version) .. link
end

-- A change without an effect also writes, and leaves nothing: WAIT is about the writes of its own connection, and this answer may rest on
-- a write of another one.
if ARGV[2] == "" and #writes + #releases == 0 then
  call("HSET", KEYS[1], ".", "")
  call("HDEL", KEYS[1], ".")
end
for _, name in ipairs(releases) do call("HDEL", name[1], name[2]) end
for _, write in ipairs(writes) do call("HSET", write[1], write[2], write[3]) end
moved = {}
for position = 1, #ARGV[2] do
  local letter, arg = sub(ARGV[2], position, position), ARGV[at]
  if letter == "x" or letter == "z" then
    if letter == "x" then call("ZREM", KEYS[nextKey], arg) else call("ZADD", KEYS[nextKey], "0", arg) end
    nextKey, at = nextKey + 1, at + 1
  elseif letter == "w" then
    call("DEL", KEYS[nextKey])
    nextKey = nextKey + 1
  elseif letter == "v" then
    call("HSET", KEYS[1], "revision", arg)
    at = at + 1
  elseif letter == "d" then
    local record = records[tonumber(arg)]
    leaveCounters(record)
    call("HDEL", record.home, record.id, record.id .. " b", record.id .. " t")
    at = at + 1
  else -- p, e, n, m, s
    local record, body = records[tonumber(arg)], ARGV[at + 2]
    local home, id = record.home, record.id
    if letter == "n" or letter == "m" then
      leaveCounters(record)
      record.counters = ARGV[at + 3] .. " 1"
      if letter == "m" then
        local name = format("%.0f", (whole(call("HGET", KEYS[1], "holds")) or 0) + 1)
        call("HSET", KEYS[1], "holds", name)
        record.counters = record.counters .. " =" .. name .. "/" .. ARGV[at + 5]
        locate(record.counters, ARGV[at + 4] .. id)
      end
    elseif letter == "s" then
      shareCounters(record, records[tonumber(ARGV[at + 3])])
    end
    record.head = letter == "e" and numbered(record, ARGV[at + 1]) or ARGV[at + 1]
    local text = record.counters and record.head .. " " .. record.counters or record.head
    if record.counters or #body > LONGEST_BODY then
      call("HSET", home, id, text, id .. " b", body)
    else
      call("HSET", home, id, text .. "\n" .. body)
      if record.isApart then call("HDEL", home, id .. " b") end
    end
    at = at + ((letter == "p" or letter == "e") and 3 or letter == "m" and 6 or 4)
  end
end
return reply
