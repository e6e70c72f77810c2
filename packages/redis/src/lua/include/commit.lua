local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, find, format = string.match, string.find, string.format
-- include whole.lua
-- include record.lua
-- include counters.lua
-- include change-usage.lua
local PIECE, PIECES, LONGEST_BODY = 64, 6, 256

local ops, at, nextKey = ARGV[1], 1, 2
local function take()
  at = at + 1
  return ARGV[at]
end
local function takeKey()
  nextKey = nextKey + 1
  return KEYS[nextKey]
end

-- Counters that were read, by where they are.
local held = {}
local function countersAt(home, field)
  local name = home .. " " .. field
  if held[name] == nil then
    local text = call("HGET", home, field)
    held[name] = text and { home = home, field = field, text = text } or false
  end
  return held[name]
end

local function countersOf(record)
  if not record.isThere then return false end
  if record.isKey and not record.shared then return countersAt(record.home, "u") end
  if record.isKey then return countersAt(KEYS[2], record.shared .. " u") end
  if record.mark == "" then return false end
  return countersAt(record.home, (record.mark == OWN and record.id or sub(record.mark, 2)) .. " u")
end

local function loadKey(isNewAddress)
  local record = { isKey = true, isNewAddress = isNewAddress, home = takeKey(), id = take(), address = take() }
  local known = call("HGET", KEYS[2], record.id)
  local fields = call("HMGET", record.home, "v", "s")
  record.isKnown = known
  if not known then
    record.isOccupied = fields[1]
  elseif known ~= record.address then
    record.isElsewhere = true
  elseif fields[1] then
    record.isThere, record.shared = true, fields[2]
    if sub(fields[1], 1, #record.id + 1) == record.id .. " " then record.version = sub(fields[1], #record.id + 2) end
  end
  return record
end

local function loadOther()
  local record = { home = takeKey(), id = take(), mark = "" }
  local head = call("HGET", record.home, record.id)
  if head then
    local version, _, mark = unpackHead(head)
    record.isThere, record.version, record.mark, record.isLong = true, version, mark, not find(head, "\n", 1, true)
  end
  return record
end

local records, expected, claimCount, changed, raises = {}, 0, 0, 0, false
local released, claimed, reply = {}, {}, { "OK" }
local releases, claims, puts, deletes, entries, windows = {}, {}, {}, {}, {}, {}

-- The claim is free where whoever made it is gone, or releases it in the same change.
local function isTaken(name, holder, id)
  return claimed[name] or (holder and holder ~= id and not released[name .. " " .. holder])
end

local judge = {}

local function know(record)
  records[#records + 1] = record
  if record.isElsewhere then return { "MOVED" } end
end
function judge.k() return know(loadKey(false)) end
function judge.K() return know(loadKey(true)) end
function judge.r() return know(loadOther()) end

-- The expected version of the record that was read last: "*" for any, "-" for none.
function judge.e()
  local record, version = records[#records], take()
  local holds = record.isThere
  if version == "-" then holds = not holds elseif version ~= "*" then holds = holds and record.version == version end
  expected = expected + 1
  if not holds then return { "STALE", expected - 1 } end
end

local function release(home, hash)
  local value, id = take(), take()
  released[hash .. " " .. value .. " " .. id] = true
  releases[#releases + 1] = { home = home, hash = hash, value = value, id = id }
  call("HEXISTS", hash, "")
  if home then call("HEXISTS", home, "v") end
end
function judge.l() release(nil, takeKey()) end
function judge.L() release(takeKey(), takeKey()) end

function judge.c()
  local hash, kind, value, id = takeKey(), takeKey(), take(), take()
  local name = hash .. " " .. value
  local holder = call("HGET", hash, value)
  if holder and holder ~= id and call("HEXISTS", kind, holder) == 0 then holder = false end
  claimCount = claimCount + 1
  if isTaken(name, holder, id) then return { "TAKEN", claimCount - 1 } end
  claimed[name] = true
  claims[#claims + 1] = { hash = hash, value = value, id = id }
end

function judge.C()
  local home, hash, value, record = takeKey(), takeKey(), take(), records[tonumber(take())]
  local name = hash .. " " .. value
  local fields = call("HMGET", home, "v", "r")
  local holder = fields[1] and not fields[2] and match(fields[1], "^%S+")
  if not holder then
    holder = call("HGET", hash, value)
    if holder and call("HEXISTS", KEYS[2], holder) == 0 then holder = false end
  end
  claimCount = claimCount + 1
  if isTaken(name, holder, record.id) then return { "TAKEN", claimCount - 1 } end
  claimed[name] = true
  claims[#claims + 1] = {
    hash = hash, value = value, id = record.id,
    home = home == record.home and home, isReleased = fields[2],
  }
end

function judge.u()
  local record, change, keep, drop = records[tonumber(take())], take(), take(), take()
  local counters = countersOf(record)
  changed = changed + 1
  local refilledAt, remaining, lastRefillAt, rest
  if counters then refilledAt, remaining, lastRefillAt, rest = unpackCounters(counters.text) end
  if not refilledAt then return { "CORRUPT" } end
  local refusal
  refilledAt, remaining, lastRefillAt, refusal = changeUsage(change, refilledAt, remaining, lastRefillAt)
  if refusal then return { "REFUSED", changed - 1, refusal, remaining and format("%.0f", remaining) or "-" } end
  local holders, all = match(rest, "^( %S+)(.*)$")
  local kept = holders
  for name, window in string.gmatch(all, " ([^ =]+)=(%S+)") do
    local isKept = keep == "*" or find(keep, " " .. name .. " ", 1, true)
    if isKept and not find(drop, " " .. name .. " ", 1, true) then kept = kept .. " " .. name .. "=" .. window end
  end
  local usage = (remaining and format("%.0f ", remaining) or "- ") .. format("%.0f ", refilledAt) .. lastRefillAt
  counters.text, counters.isMoved = usage .. kept, true
  reply[#reply + 1] = usage
end

function judge.p() puts[#puts + 1] = { record = records[tonumber(take())], head = take(), body = take() } end

function judge.n()
  judge.p()
  puts[#puts].usage = take()
end

function judge.s()
  judge.p()
  puts[#puts].source = records[tonumber(take())]
end

function judge.d() deletes[#deletes + 1] = records[tonumber(take())] end

function judge.z() entries[#entries + 1] = { list = takeKey(), member = take() } end
function judge.x() entries[#entries + 1] = { list = takeKey(), member = take(), isOut = true } end
function judge.w() windows[#windows + 1] = takeKey() end
function judge.v() raises = true end

-- 1. What may refuse.
for position = 1, #ops do
  local refusal = judge[sub(ops, position, position)]()
  if refusal then return refusal end
end
if raises and not whole(call("GET", KEYS[1]) or "0") then return { "CORRUPT" } end
for _, put in ipairs(puts) do
  local record = put.record
  if record.isKey and not record.isKnown then
    if not record.isNewAddress then return { "MOVED" } end
    -- A claim that its holder gave up: the holder stays at its address all the same.
    if record.isOccupied then return { "OCCUPIED", record.id } end
  end
end
-- Only to find out that each is what it has to be, before anything is written.
local seen = {}
for _, entry in ipairs(entries) do
  if not seen[entry.list] then call("ZCARD", entry.list) end
  seen[entry.list] = true
end

-- 2. All is good: nothing here can fail.
local function write(counters)
  call("HSET", counters.home, counters.field, counters.text)
end

-- Counters go with the last that has them. Damaged ones stay: whatever else is wrong, a record can be deleted.
local function addHolders(counters, by)
  local usage, holders, rest = match(counters.text, "^(%S+ %S+ %S+) (%d+)(.*)$")
  if not usage then return end
  holders = tonumber(holders) + by
  if holders > 0 then
    counters.text = usage .. format(" %.0f", holders) .. rest
    return write(counters)
  end
  call("HDEL", counters.home, counters.field)
  held[counters.home .. " " .. counters.field] = false
end

-- A name for counters that none has: those of a record that is gone stay while another shares them.
local function freeName(home, name)
  while call("HEXISTS", home, name .. " u") == 1 do name = name .. "'" end
  return name
end

local function keepAt(home, field, text)
  local counters = { home = home, field = field, text = text }
  held[home .. " " .. field] = counters
  write(counters)
end

local function leaveCounters(record)
  local counters = countersOf(record)
  if counters then addHolders(counters, -1) end
  if record.shared then call("HDEL", record.home, "s") end
  record.shared, record.mark = false, ""
end

local function startCounters(record, usage)
  leaveCounters(record)
  record.isThere = true
  if record.isKey then return keepAt(record.home, "u", usage .. " 1") end
  local name = freeName(record.home, record.id)
  record.mark = name == record.id and OWN or "@" .. name
  keepAt(record.home, name .. " u", usage .. " 1")
end

local function shareCounters(record, source)
  local counters = countersOf(source)
  if not counters or counters == countersOf(record) then return end
  leaveCounters(record)
  if source.isKey and not source.shared then
    local name = freeName(KEYS[2], source.id)
    call("HDEL", source.home, "u")
    held[source.home .. " u"] = false
    source.shared = name
    call("HSET", source.home, "s", name)
    keepAt(KEYS[2], name .. " u", counters.text)
    counters = countersOf(source)
  end
  addHolders(counters, 1)
  if record.isKey then
    record.shared = source.shared
    call("HSET", record.home, "s", record.shared)
  else
    record.mark = source.mark == OWN and "@" .. source.id or source.mark
  end
end

local function putKey(record, head, body)
  local version, link = match(head, "^(%S+) ?(.*)$")
  if record.isKnown then
    call("HDEL", record.home, "l", "b", "0", "1", "2", "3", "4", "5")
  else
    call("HSET", KEYS[2], record.id, record.address)
  end
  local fields = { "v", record.id .. " " .. version }
  local function add(name, value)
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  if link ~= "" then add("l", link) end
  if #body > PIECE * PIECES then
    add("b", body)
  else
    for piece = 0, math.ceil(#body / PIECE) - 1 do
      add(format("%d", piece), sub(body, piece * PIECE + 1, (piece + 1) * PIECE))
    end
  end
  call("HSET", record.home, unpack(fields))
end

local function putOther(record, head, body)
  head = head .. (find(head, " ", 1, true) and " " or "  ") .. record.mark
  if #body <= LONGEST_BODY then
    call("HSET", record.home, record.id, head .. "\n" .. body)
    if record.isLong then call("HDEL", record.home, record.id .. " b") end
  else
    call("HSET", record.home, record.id, head, record.id .. " b", body)
  end
end

for _, gone in ipairs(releases) do
  local stamp = gone.home and call("HGET", gone.home, "v")
  if stamp and match(stamp, "^%S+") == gone.id then
    call("HSET", gone.home, "r", "1")
  elseif call("HGET", gone.hash, gone.value) == gone.id then
    call("HDEL", gone.hash, gone.value)
  end
end
for _, counters in pairs(held) do
  if counters and counters.isMoved then write(counters) end
end
for _, put in ipairs(puts) do
  local record = put.record
  if put.usage then startCounters(record, put.usage) end
  if put.source then shareCounters(record, put.source) end
  if record.isKey then putKey(record, put.head, put.body) else putOther(record, put.head, put.body) end
  record.isThere = true
end
for _, record in ipairs(deletes) do
  leaveCounters(record)
  if record.isKey then
    call("DEL", record.home)
    call("HDEL", KEYS[2], record.id, record.id .. " t")
  else
    call("HDEL", record.home, record.id, record.id .. " b", record.id .. " t")
  end
end
for _, claim in ipairs(claims) do
  if not claim.home then
    call("HSET", claim.hash, claim.value, claim.id)
  elseif claim.isReleased then
    call("HDEL", claim.home, "r")
  end
end
for _, entry in ipairs(entries) do
  if entry.isOut then call("ZREM", entry.list, entry.member) else call("ZADD", entry.list, "0", entry.member) end
end
for _, window in ipairs(windows) do call("DEL", window) end
if raises then call("INCR", KEYS[1]) end
return reply
