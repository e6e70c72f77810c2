#!lua
--[[
  Carries out a change of a workspace: all of it or nothing.

  KEYS[1]  revision of the workspace, a string
  KEYS[2]  addresses of keys by id, a hash, with "<id> t" and, for counters that keys share, "<id> u"
  then     what the letters name
  ARGV[1]  letters of what may refuse, ARGV[2] letters of what is written; then for each letter what it takes. Records are known
           by their number from then on.
           "k" a key, KEYS: its record; its id, its address; "K" the same, with the address that it gets if it is new;
           "r" a record of another kind, KEYS: the hash of its kind; its id;
           "e" expected version of the record before, "*" for any, "-" for none;
           "l" a name to release, KEYS: hash of claims; value, id; "L" the same of a key, KEYS: record at the address that
           the name gives, hash of claims; "c" a claim, KEYS: hash of claims, hash of the kind; value, id; "C" a claim of a
           key, KEYS as for "L"; value, number of the record;
           "u" a change of counters: number of the record, change of uses as change-usage.lua takes it, windows that stay,
           each between spaces, or "*" for all, windows that go;
           "p" a put: number of the record, version and where there is one a space and the link, body; "n" the same with new
           counters: "<uses left or -> <refilledAt> <lastRefillAt or ->"; "s" the same with the counters of another: its
           number; "d" a deletion: number of the record; "x" out of a list, "z" into it, KEYS: a sorted set; member;
           "w" a window to forget, KEYS: a string; "v" raise the revision
  Returns  {"OK", uses after each change of counters …}, {"STALE", index}, {"TAKEN", index}, {"REFUSED", index, kind, uses left
           or "-"}, {"CORRUPT"}, or {"MOVED"} where it has to be asked for again, since a key has another address
  Mirrors  KeyStore.commit and changeUsage in packages/core/src/store
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, find, sub, format = string.match, string.find, string.sub, string.format
-- include whole.lua
-- include change-usage.lua
local PIECE, PIECES, LONGEST_BODY = 64, 6, 512

local at, nextKey = 3, 3
local records, held, released, releases, claims, claimed = {}, {}, {}, {}, {}, {}
local expected, claimCount, changed, reply = 0, 0, 0, { "OK" }

-- {home, field, text, whether it moved}, once for all records that share them; false where a record has none.
local function countersOf(record)
  local home, field = record.home, "u"
  if not record.isThere or record.mark == "" then return false end
  if record.shared then
    home, field = KEYS[2], record.shared .. " u"
  elseif record.mark then
    field = (record.mark == "+" and record.id or sub(record.mark, 2)) .. " u"
  end
  local name = home .. " " .. field
  if held[name] == nil then
    local text = call("HGET", home, field)
    held[name] = text and { home, field, text, false }
  end
  return held[name]
end

-- 1. What may refuse.
for letter in string.gmatch(ARGV[1], ".") do
  local key, arg = KEYS[nextKey], ARGV[at]
  if letter == "e" then
    local record, holds = records[#records], arg == "*"
    if arg ~= "*" then holds = record.version == arg end
    if arg == "-" then holds = not record.isThere elseif not record.isThere then holds = false end
    if not holds then return { "STALE", expected } end
    expected, at = expected + 1, at + 1
  elseif letter == "r" then
    local head, record = call("HGET", key, arg), { home = key, id = arg, mark = "" }
    if head then
      record.isThere, record.isLong = true, not find(head, "\n", 1, true)
      record.version, record.mark = match(head, "^(%S*) %S* ([^\n]*)")
      record.mark = record.mark or ""
    end
    records[#records + 1], nextKey, at = record, nextKey + 1, at + 1
  elseif letter == "k" or letter == "K" then
    local record = { home = key, id = arg, address = ARGV[at + 1], isNew = letter == "K", known = call("HGET", KEYS[2], arg) }
    if record.known and record.known ~= record.address then return { "MOVED" } end
    local fields = call("HMGET", key, "v", "s", "r")
    record.isThere, record.shared, record.isOccupied = record.known and fields[1], fields[2], fields[1]
    record.stamps = { fields[1], fields[3] }
    if record.isThere and sub(fields[1], 1, #arg + 1) == arg .. " " then record.version = sub(fields[1], #arg + 2) end
    records[#records + 1], nextKey, at = record, nextKey + 1, at + 2
  elseif letter == "l" or letter == "L" then
    local home, hash = letter == "L" and key, letter == "L" and KEYS[nextKey + 1] or key
    if home then call("HEXISTS", home, "v") end
    call("HEXISTS", hash, arg)
    released[hash .. " " .. arg .. " " .. ARGV[at + 1]] = true
    releases[#releases + 1] = { home, hash, arg, ARGV[at + 1] }
    nextKey, at = nextKey + (home and 2 or 1), at + 2
  elseif letter == "c" or letter == "C" then
    local other, isKey, holder, fields, home = KEYS[nextKey + 1], letter == "C", nil, nil, nil
    local hash, id = isKey and other or key, ARGV[at + 1]
    if isKey then
      local record = records[tonumber(id)]
      id, home = record.id, record.home == key and key
      fields = home and record.stamps or call("HMGET", key, "v", "r")
      holder = fields[1] and not fields[2] and match(fields[1], "^%S+")
    end
    if not holder then
      holder = call("HGET", hash, arg)
      -- A claim goes with the record that made it.
      if holder and holder ~= id and call("HEXISTS", isKey and KEYS[2] or other, holder) == 0 then holder = false end
    end
    local name = hash .. " " .. arg
    local isFree = not holder or holder == id or released[name .. " " .. holder]
    if claimed[name] or not isFree then return { "TAKEN", claimCount } end
    claimed[name], claimCount = true, claimCount + 1
    if not home then
      claims[#claims + 1] = { "HSET", hash, arg, id }
    elseif fields[2] or released[name .. " " .. id] then
      claims[#claims + 1] = { "HDEL", home, "r" }
    end
    nextKey, at = nextKey + 2, at + 2
  else -- u
    local counters = countersOf(records[tonumber(arg)])
    local change, keep, drop = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    local left, refilledAt, lastRefillAt, holders, rest = match(counters and counters[3] or "", "^(%S+) (%d+) (%S+)( %d+)(.*)$")
    refilledAt = whole(refilledAt)
    local remaining = left ~= "-" and whole(left) or nil
    if not refilledAt or not (remaining or left == "-") then return { "CORRUPT" } end
    local refusal
    remaining, refilledAt, lastRefillAt, refusal = changeUsage(change, remaining, refilledAt, lastRefillAt)
    if refusal then return { "REFUSED", changed, refusal, remaining and format("%.0f", remaining) or "-" } end
    local usage = (remaining and format("%.0f ", remaining) or "- ") .. format("%.0f ", refilledAt) .. lastRefillAt
    local kept = ""
    for name, window in string.gmatch(rest, " ([^ =]+)=(%S+)") do
      local isKept = keep == "*" or find(keep, " " .. name .. " ", 1, true)
      if isKept and not find(drop, " " .. name .. " ", 1, true) then kept = kept .. " " .. name .. "=" .. window end
    end
    counters[3], counters[4] = usage .. holders .. kept, true
    changed, reply[#reply + 1], at = changed + 1, usage, at + 4
  end
end
for _, record in ipairs(records) do
  if record.address and not record.known then
    -- The address comes from a name that its holder gave up, and the holder is still there.
    if not record.isNew or record.isOccupied then return { "MOVED" } end
  end
end
-- Only to find out that each is what it has to be, before anything is written.
if find(ARGV[2], "v", 1, true) and not whole(call("GET", KEYS[1]) or "0") then return { "CORRUPT" } end
local lists = nextKey
for letter in string.gmatch(ARGV[2], "[xz]") do
  call("ZCARD", KEYS[lists])
  lists = lists + 1
end

-- 2. All is good: nothing here can fail.
local function write(counters)
  call("HSET", counters[1], counters[2], counters[3])
end

-- Counters go with the last record that has them. Damaged ones stay: whatever else is wrong, a record can be deleted.
local function addHolders(counters, by)
  local usage, holders, rest = match(counters[3], "^(%S+ %S+ %S+) (%d+)(.*)$")
  if not usage then return end
  if tonumber(holders) + by > 0 then
    counters[3] = usage .. format(" %.0f", holders + by) .. rest
    return write(counters)
  end
  call("HDEL", counters[1], counters[2])
  held[counters[1] .. " " .. counters[2]] = false
end

local function leaveCounters(record)
  local counters = countersOf(record)
  if counters then addHolders(counters, -1) end
  if record.shared then call("HDEL", record.home, "s") end
  record.shared, record.mark = false, record.mark and ""
end

-- A name that no counters have: those of a record that is gone stay while another shares them.
local function startCounters(home, name, text)
  while call("HEXISTS", home, name .. " u") == 1 do name = name .. "'" end
  local counters = { home, name .. " u", text, false }
  held[home .. " " .. counters[2]] = counters
  write(counters)
  return name
end

local function shareCounters(record, source)
  local counters = countersOf(source)
  if not counters or counters == countersOf(record) then return end
  leaveCounters(record)
  if source.address and not source.shared then
    call("HDEL", source.home, "u")
    held[source.home .. " u"] = false
    source.shared = startCounters(KEYS[2], source.id, counters[3])
    call("HSET", source.home, "s", source.shared)
    counters = countersOf(source)
  end
  addHolders(counters, 1)
  record.shared = source.shared
  if record.shared then call("HSET", record.home, "s", record.shared) end
  record.mark = source.mark == "+" and "@" .. source.id or source.mark
end

for _, release in ipairs(releases) do
  local home, hash, value, id = unpack(release)
  local stamp = home and call("HGET", home, "v")
  if stamp and match(stamp, "^%S+") == id then
    call("HSET", home, "r", "1")
  elseif call("HGET", hash, value) == id then
    call("HDEL", hash, value)
  end
end
for _, claim in ipairs(claims) do call(unpack(claim)) end
for _, counters in pairs(held) do
  if counters and counters[4] then write(counters) end
end
for letter in string.gmatch(ARGV[2], ".") do
  if letter == "z" then
    call("ZADD", KEYS[nextKey], "0", ARGV[at])
    nextKey, at = nextKey + 1, at + 1
  elseif letter == "x" then
    call("ZREM", KEYS[nextKey], ARGV[at])
    nextKey, at = nextKey + 1, at + 1
  elseif letter == "w" then
    call("DEL", KEYS[nextKey])
    nextKey = nextKey + 1
  elseif letter == "v" then
    call("INCR", KEYS[1])
  elseif letter == "d" then
    local record = records[tonumber(ARGV[at])]
    local id = record.id
    leaveCounters(record)
    if record.address then
      call("DEL", record.home)
      call("HDEL", KEYS[2], id, id .. " t")
    else
      call("HDEL", record.home, id, id .. " b", id .. " t")
    end
    at = at + 1
  else -- p, n, s
    local record, head, body = records[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2]
    local home, id, own = record.home, record.id, nil
    at = at + (letter == "p" and 3 or 4)
    if letter == "n" then
      leaveCounters(record)
      own, held[home .. " u"] = ARGV[at - 1] .. " 1", nil
      if not record.address then
        local name = startCounters(home, id, own)
        record.mark = name == id and "+" or "@" .. name
      end
    elseif letter == "s" then
      shareCounters(record, records[tonumber(ARGV[at - 1])])
    end
    if record.address then
      local version, link = match(head, "^(%S+) ?(.*)$")
      local fields = { "v", id .. " " .. version }
      if record.known then
        call("HDEL", home, "l", "b", "0", "1", "2", "3", "4", "5")
      else
        call("HSET", KEYS[2], id, record.address)
      end
      if link ~= "" then fields[3], fields[4] = "l", link end
      local count = #fields
      if own then fields[count + 1], fields[count + 2], count = "u", own, count + 2 end
      if #body > PIECE * PIECES then
        fields[count + 1], fields[count + 2] = "b", body
      else
        for piece = 0, math.ceil(#body / PIECE) - 1 do
          fields[count + 1], fields[count + 2] = piece, sub(body, piece * PIECE + 1, (piece + 1) * PIECE)
          count = count + 2
        end
      end
      call("HSET", home, unpack(fields))
    else
      head = head .. (find(head, " ", 1, true) and " " or "  ") .. record.mark
      if #body > LONGEST_BODY then
        call("HSET", home, id, head, id .. " b", body)
      else
        call("HSET", home, id, head .. "\n" .. body)
        if record.isLong then call("HDEL", home, id .. " b") end
      end
    end
    record.isThere = true
  end
end
return reply
