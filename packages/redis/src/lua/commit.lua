#!lua
--[[
  Carries out a change of a workspace: all of it or nothing.

  KEYS[1]  workspace, a hash: "revision", and counters that records share; then what the letters name
  ARGV[1]  letters of what may refuse, ARGV[2] letters of what is written; then for each letter what it takes:
           "r" a record, known by its number from then on, KEYS: the hash it is in; its id, the version that is expected and a
           space, "*" for any, "-" for none, "" where nothing is expected;
           "h" where those are who hold the names that follow, KEYS: these hashes; their number; "l" a name to release, "c" one
           to claim, KEYS: hash of claims; value, id;
           "u" a change of counters: number of the record, change of uses as change-usage.lua takes it, windows that stay,
           each between spaces, or "*" for all, windows that go;
           "p" a put: number of the record, version and link, body; "n" the same with new counters: "<uses left or ->
           <refilledAt> <lastRefillAt or ->"; "s" the same with the counters of another: its number; "d" a deletion: number
           of the record; "x" out of a list, "z" into it, KEYS: a sorted set; member; "w" a window to forget, KEYS: a string;
           "v" raise the revision
  Returns  {"OK", uses after each change of counters …}, {"STALE", index}, {"TAKEN", index}, {"REFUSED", index, kind, uses left
           or "-"} or {"CORRUPT"}
  Mirrors  KeyStore.commit and changeUsage in packages/core/src/store
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, find, sub, byte, format = string.match, string.find, string.sub, string.byte, string.format
-- include whole.lua
-- include record.lua
-- include change-usage.lua
local LONGEST_BODY = 512

local at, nextKey, firstHome, homes = 3, 2, nil, nil
local records, released, releases, claimed, claims, moved = {}, {}, {}, {}, {}, {}
local claimCount, changed, reply, revision = 0, 0, { "OK" }, call("HGET", KEYS[1], "revision")

-- Where the counters of a record are, and their text, nil where it has none.
local function countersOf(record)
  local home, field = record.home, record.id .. " u"
  local text = record.head and call("HGET", home, field) or nil
  if not text or byte(text) ~= SHARED then return home, field, text end
  return KEYS[1], sub(text, 2), call("HGET", KEYS[1], sub(text, 2)) or nil
end

-- 1. What may refuse.
for position = 1, #ARGV[1] do
  local letter, key, arg = sub(ARGV[1], position, position), KEYS[nextKey], ARGV[at]
  if letter == "r" then
    local head, expected = call("HGET", key, arg), ARGV[at + 1]
    local holds = expected == "" or head and (expected == "*" or sub(head, 1, #expected) == expected)
    if expected == "-" then holds = not head end
    if not holds then return { "STALE", #records } end
    records[#records + 1], nextKey, at = { home = key, id = arg, head = head }, nextKey + 1, at + 2
  elseif letter == "h" then
    firstHome, homes, at = nextKey, tonumber(arg), at + 1
    nextKey = nextKey + homes
  elseif letter == "u" then
    local home, field, text = countersOf(records[tonumber(arg)])
    local name = home .. " " .. field
    if moved[name] then text = moved[name][3] end
    local left, refilledAt, lastRefillAt, holders, rest = match(text or "", "^(%S+) (%d+) (%S+)( %d+)(.*)$")
    local remaining = left ~= "-" and whole(left) or nil
    refilledAt = whole(refilledAt)
    if not refilledAt or not (remaining or left == "-") then return { "CORRUPT" } end
    local refusal
    remaining, refilledAt, lastRefillAt, refusal = changeUsage(ARGV[at + 1], remaining, refilledAt, lastRefillAt)
    if refusal then return { "REFUSED", changed, refusal, remaining and format("%.0f", remaining) or "-" } end
    local usage = (remaining and format("%.0f ", remaining) or "- ") .. format("%.0f ", refilledAt) .. lastRefillAt
    local keep, drop, kept = ARGV[at + 2], ARGV[at + 3], ""
    for window, value in string.gmatch(rest, " ([^ =]+)=(%S+)") do
      local isKept = keep == "*" or find(keep, " " .. window .. " ", 1, true)
      if isKept and not find(drop, " " .. window .. " ", 1, true) then kept = kept .. " " .. window .. "=" .. value end
    end
    moved[name] = { home, field, usage .. holders .. kept }
    changed, reply[#reply + 1], at = changed + 1, usage, at + 4
  else -- l, c
    local id, holder, name = ARGV[at + 1], call("HGET", key, arg), key .. " " .. arg
    if letter == "l" then
      if holder == id then
        released[name], releases[#releases + 1] = id, { key, arg }
      end
    else
      -- A claim goes with the record that made it.
      local isFree = not holder or holder == id or released[name] == holder
      local home = not isFree and homeOf(holder, firstHome, homes)
      isFree = isFree or call("HEXISTS", home, holder) == 0
      if claimed[name] or not isFree then return { "TAKEN", claimCount } end
      claimed[name], claimCount = true, claimCount + 1
      claims[claimCount] = { key, arg, id }
    end
    nextKey, at = nextKey + 1, at + 2
  end
end
-- Only to find out that each is what it has to be, before anything is written.
if find(ARGV[2], "v", 1, true) and not whole(revision or "0") then return { "CORRUPT" } end
local _, lists = string.gsub(ARGV[2], "[xz]", "")
for list = nextKey, nextKey + lists - 1 do call("ZCARD", KEYS[list]) end

-- 2. All is good: nothing here can fail.

-- Shared counters go with the last record that has them. Damaged ones stay: whatever else is wrong, a record can be deleted.
local function leaveCounters(record)
  local home, field, text = countersOf(record)
  if not text then return end
  local usage, holders, rest = match(text, "^(%S+ %S+ %S+) (%d+)(.*)$")
  if home == KEYS[1] and holders == "1" then
    call("HDEL", home, field)
  elseif home == KEYS[1] and holders then
    call("HSET", home, field, usage .. format(" %.0f", holders - 1) .. rest)
  end
  call("HDEL", record.home, record.id .. " u")
end

local function shareCounters(record, source)
  local home, field, text = countersOf(source)
  local ownHome, ownField = countersOf(record)
  if not text or (home == ownHome and field == ownField) then return end
  leaveCounters(record)
  if home ~= KEYS[1] then
    -- A field that no counters have: those of a record that is gone stay while another shares them.
    while call("HEXISTS", KEYS[1], field) == 1 do field = field .. "'" end
    call("HSET", source.home, source.id .. " u", "@" .. field)
  end
  local usage, holders, rest = match(text, "^(%S+ %S+ %S+) (%d+)(.*)$")
  call("HSET", KEYS[1], field, usage and usage .. format(" %.0f", holders + 1) .. rest or text)
  call("HSET", record.home, record.id .. " u", "@" .. field)
end

for _, name in ipairs(releases) do call("HDEL", name[1], name[2]) end
for _, field in ipairs(claims) do call("HSET", field[1], field[2], field[3]) end
for _, field in pairs(moved) do call("HSET", field[1], field[2], field[3]) end
for position = 1, #ARGV[2] do
  local letter, arg = sub(ARGV[2], position, position), ARGV[at]
  if letter == "z" then
    call("ZADD", KEYS[nextKey], "0", arg)
    nextKey, at = nextKey + 1, at + 1
  elseif letter == "x" then
    call("ZREM", KEYS[nextKey], arg)
    nextKey, at = nextKey + 1, at + 1
  elseif letter == "w" then
    call("DEL", KEYS[nextKey])
    nextKey = nextKey + 1
  elseif letter == "v" then
    call("HINCRBY", KEYS[1], "revision", "1")
  elseif letter == "d" then
    local record, id = records[tonumber(arg)], records[tonumber(arg)].id
    leaveCounters(record)
    call("HDEL", record.home, id, id .. " b", id .. " t", id .. " u")
    at = at + 1
  else -- p, n, s
    local record, head, body = records[tonumber(arg)], ARGV[at + 1], ARGV[at + 2]
    local home, id = record.home, record.id
    at = at + 3
    if #body > LONGEST_BODY then
      call("HSET", home, id, head, id .. " b", body)
    else
      call("HSET", home, id, head .. "\n" .. body)
      if record.head and not find(record.head, "\n", 1, true) then call("HDEL", home, id .. " b") end
    end
    if letter == "n" then
      leaveCounters(record)
      call("HSET", home, id .. " u", ARGV[at] .. " 1")
      at = at + 1
    elseif letter == "s" then
      shareCounters(record, records[tonumber(ARGV[at])])
      at = at + 1
    end
  end
end
return reply
