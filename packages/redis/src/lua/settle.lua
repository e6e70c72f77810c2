#!lua
--[[
  Ends a hold, or holds it for longer; or ends what is over beside the counters of a record and applies a refill that is due to them; or
  has exactly these holds beside them.

  KEYS[1]  workspace, a hash: "revision", and counters that records share
  KEYS[2]  holds, a hash, KEYS[3] their ends, a sorted set
  KEYS[4]  memory of the end of the hold, a string; for "f" and "s" the hash that the record is in
  KEYS[5]  to [20] keys, hashes; [21] identities, a hash; then those that the names of ARGV stand for
  ARGV[1]  expected revision, "-" for any, [2] now, Unix epoch ms, [3] "e" to end, "r" to renew, "f" to refresh, "s" to restore, [4] id of the hold
           or the record, [5] number of names, then these: "p<window>" a window of the workspace, a string, "f<id>" memory of the end of a hold, a
           string; then
           for "e" uses that were used, "-" for all; "1" where all of the limits that are not named was used, else "0"; for each limit that is
           named its name as windows have it, and units;
           for "r" for how long in ms, "-" for as long as at first;
           for "f" the letter of the kind as in hold-sums.lua, and the refill as apply-refill.lua takes it
           for "s" that letter, the sums or "-" for none, then for each hold its id and holdText
  Returns  {"STALE"}, {"UNKNOWN"}, {"CONFLICT"}, {"CORRUPT"}, {"EXPIRED"} and what is known of the hold that has, just now,
           {"RENEWED", holdText}, {"OVER", holdText}, {"UNNAMED", holdText}, {"REPEAT", rememberedEndText},
           {"ENDED", rememberedEndText}, {"REFRESHED", "1" where there are more, id, holdText, and so on},
           {"RESTORED"} or {"MORE", names that ARGV has to have}, with nothing written
  Mirrors  applyHoldStep in packages/core/src/store/settle.ts
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, find, sub, byte, format = string.match, string.find, string.sub, string.byte, string.format
local gmatch, unpack = string.gmatch, unpack
-- include whole.lua
-- include record.lua
-- include hold-sums.lua
-- include detach-hold.lua
-- include apply-refill.lua
-- include groups.lua
local FIRST_KEY, IDENTITIES, FIRST_NAMED = 5, 21, 22
local REMEMBER_END_MS, KEPT_AFTER_END_MS, MOST_ENDED_AT_ONCE, LAST_INSTANT = 3600000, 86400000, 100, 8640000000000000

if ARGV[1] ~= "-" and (call("HGET", KEYS[1], "revision") or "0") ~= ARGV[1] then return { "STALE" } end
local now, step, id, count = tonumber(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5])
local NOTHING, given, missing, isCorrupt, at = {}, {}, { "MORE" }, false, 6 + count
for number = 1, count do given[ARGV[5 + number]] = KEYS[FIRST_NAMED - 1 + number] end

-- The key that a name stands for. Where there is none, nothing is done before it was asked for.
local function keyOf(name)
  if not given[name] then missing[#missing + 1] = name end
  return given[name]
end

-- 1. What is read. All of it is parsed before anything is written.

local function read(text)
  local number = whole(text)
  if not number then isCorrupt = true end
  return number
end

local counters = {}
-- The counters at a place as hold-sums.lua says; false where there are none.
local function load(place)
  if counters[place] ~= nil then return counters[place] end
  local letter, field = sub(place, 1, 1), sub(place, 2)
  local home = letter == "w" and KEYS[1] or letter == "i" and KEYS[IDENTITIES] or homeOf(field, FIRST_KEY, 16)
  local text, found = call("HGET", home, field), false
  if text then
    local sums, isWhole, rest = sumsOf(text)
    local head, left, refilledAt, lastRefillAt, holders, at = match(rest or "", "^(%S* %S* )(%S+) (%d+) (%S+)( %d+)()")
    refilledAt = tonumber(refilledAt)
    if not isWhole or not head or refilledAt > MAX or left ~= "-" and not whole(left) then
      isCorrupt = true
    else
      found = {
        home = home,
        field = field,
        head = head,
        remaining = tonumber(left),
        refilledAt = refilledAt,
        lastRefillAt = lastRefillAt,
        holders = holders,
        rest = sub(rest, at),
        sums = sums,
        name = sums and sums.name,
        windows = {},
        drops = false,
      }
      if sums and sums.drops ~= "" then
        found.drops = {}
        for drop in gmatch(sums.drops, "[^,]+") do
          local before, mark, windows = match(drop, "^(%d+)([+-])(%S*)$")
          found.drops[#found.drops + 1] = { before = read(before), isKept = mark == "-", windows = "|" .. (windows or "") }
        end
      end
      for raise in gmatch(sums and sums.raises or "", "[^,]+") do
        local before, free, units = match(raise, "^(%d+)/(%d+)/(%d+)$")
        if not (read(before) and read(free) and read(units)) then break end
      end
    end
  end
  counters[place] = found
  return found
end

-- A state of a limit; false where there is none.
local function stateOf(text, from)
  local atText, used, earlier = match(text, "^(%d+):(%d+):?([%d,]*)", from)
  local state = { at = tonumber(atText), used = tonumber(used), earlier = {} }
  if not atText or state.at > MAX or state.used > MAX then isCorrupt = true end
  if earlier ~= "" then
    for units in gmatch(earlier or "", "%d+") do state.earlier[#state.earlier + 1] = read(units) end
  end
  return state
end

local free = { windows = {} }
local function windowOf(owner, window)
  local state = owner.windows[window]
  if state ~= nil then return state end
  state = false
  if owner == free then
    local key = keyOf("p" .. window)
    local text = key and call("GET", key)
    if text then
      state = stateOf(text, 1)
      state.key, state.last = key, match(text, " .*$") or ""
    end
  else
    local _, stop = find(owner.rest, " " .. window .. "=", 1, true)
    if stop then state = stateOf(owner.rest, stop + 1) end
  end
  owner.windows[window] = state
  return state
end

-- What is held, of the text behind the names of counters.
local function parseHold(text)
  local head, expiresAt, ttl, uses, usesOf, numbers, after =
    match(text, "^(%S+ %S+ %d+ )(%d+) (%d+) (%d+) ([%d-]+) ([%d,]+)()")
  if not head then
    isCorrupt = true
    return { text = text, limits = {} }
  end
  local hold = {
    text = text,
    head = head,
    tail = sub(text, #head + #expiresAt + 1),
    expiresAt = tonumber(expiresAt),
    ttl = tonumber(ttl),
    uses = tonumber(uses),
    usesOf = tonumber(usesOf),
    numbers = {},
    limits = {},
  }
  if hold.expiresAt > MAX or hold.ttl > MAX or hold.uses > MAX then isCorrupt = true end
  for number in gmatch(numbers, "%d+") do hold.numbers[#hold.numbers + 1] = tonumber(number) end
  while after <= #text do
    local owner, window, units, takenAt, rate, next = match(text, "^ ([%d-])/([^= ]+)=(%d+):(%d+):(%d+)()", after)
    units, takenAt, rate = tonumber(units), tonumber(takenAt), tonumber(rate)
    if not owner or units > MAX or takenAt > MAX or rate > MAX then
      isCorrupt = true
      break
    end
    -- Mirrors kindOfWindow in packages/core/src/rules/limit-state.ts.
    local mark, duration = match(window, "^([stc]?)(%d+):")
    if not mark then mark, duration = match(window, "^n:([stc]?)(%d+):") end
    if not mark then mark, duration = match(window, "^a:[^:]+:([stc]?)(%d+):") end
    hold.limits[#hold.limits + 1], after = {
      owner = tonumber(owner),
      window = window,
      units = units,
      at = takenAt,
      rate = rate,
      mark = mark,
      duration = tonumber(duration),
    }, next
  end
  return hold
end

local seen = {}
-- A hold with the counters that it is beside, false for those that are gone; nil where there is none. Its text, if that is known.
local function look(holdId, text)
  if seen[holdId] then return seen[holdId] end
  text = text or call("HGET", KEYS[2], holdId)
  if not text then return nil end
  local names, at = match(text, "^([%d,-]+) ()")
  local hold = parseHold(sub(text, at or 1))
  isCorrupt = isCorrupt or not names
  hold.id, hold.names, hold.beside, hold.isSlots = holdId, names or "", {}, sub(holdId, -2) == ".s"
  local fields = {}
  for name in gmatch(hold.names, "[^,]+") do fields[#fields + 1] = " " .. name end
  for number, place in ipairs(fields[1] and call("HMGET", KEYS[2], unpack(fields)) or NOTHING) do
    local found = place and load(place)
    hold.beside[number] = found and " " .. found.name == fields[number] and found or false
  end
  seen[holdId] = hold
  return hold
end

-- The same, nil where the counters of its key are gone.
local function findHold(holdId, text)
  local hold = look(holdId, text)
  return hold and hold.beside[1] and hold or nil
end

local function readWindows(hold)
  for _, held in ipairs(hold.limits) do
    local owner = held.owner and hold.beside[held.owner + 1]
    if not held.owner then owner = free end
    if owner then windowOf(owner, held.window) end
  end
end

-- Of the slots of a hold, those that the workspace keeps.
local function readFreeSlots(hold)
  for _, held in ipairs(hold.limits) do
    if not held.owner and held.mark == "c" then windowOf(free, held.window) end
  end
end

-- 2. What is written. Nothing here can fail.

local function rangeOf(name)
  return "[" .. name .. " ", "(" .. name .. "!"
end

local function entryOf(name, hold)
  return name .. " " .. format("%016.0f", hold.expiresAt) .. hold.id
end

-- What counters know of the holds beside them, where there are any still.
local function settleSums(owner)
  local first = call("ZRANGEBYLEX", KEYS[3], "[" .. owner.name .. " ", "(" .. owner.name .. "!", "LIMIT", "0", "1")[1]
  if not first then
    owner.sums = nil
  elseif owner.sums then
    owner.sums.nextEnd = whole(sub(first, #owner.name + 2, #owner.name + 17)) or MAX
  end
end

local function isReturnable(owner, held, number)
  for _, drop in ipairs(owner.sums and owner.drops or NOTHING) do
    local isOld = drop.before > number and not (drop.isKept and not held.owner)
    if isOld and (find(drop.windows, "|" .. held.window .. "|", 1, true) ~= nil) ~= drop.isKept then return false end
  end
  return true
end

-- Mirrors afterReturn in packages/core/src/rules/returned-units.ts.
local function returnUnits(state, held, units, moment)
  local duration = held.duration
  if held.mark == "t" then
    local due, passed = units * duration, math.max(moment, state.at) - held.at
    -- Compared before it is multiplied: the product may be above 2^53.
    if passed < ceilDiv(due, held.rate) then state.used = math.max(0, state.used - (due - passed * held.rate)) end
    return
  end
  local before = 0
  if held.mark == "s" then
    local length = math.ceil(duration / 16)
    before = groupOf(state.at, length) - groupOf(held.at, length)
  elseif held.mark == "" and state.at ~= held.at then
    return
  end
  if before == 0 then
    state.used = math.max(0, state.used - units)
  elseif state.earlier[before] then
    state.earlier[before] = math.max(0, state.earlier[before] - units)
  end
end

local function usesAfterRaises(sums, number, units)
  local added, raises = units, ""
  for raise, before, freeUnits, raised in gmatch(sums.raises, "((%d+)/(%d+)/(%d+))") do
    if tonumber(before) > number then
      local unpaid = math.min(tonumber(freeUnits), added)
      local paid = math.min(tonumber(raised), added - unpaid)
      added = added - paid
      raise = format("%s/%.0f/%.0f", before, freeUnits - unpaid, raised - paid)
    end
    raises = raises .. (raises == "" and "" or ",") .. raise
  end
  return added, raises
end

-- Gives back what was not used, and forgets the hold.
local function giveBack(hold, usedUses, usedLimits, moment)
  -- First what nothing was read of: it may be of another type.
  local entries = {}
  for _, owner in ipairs(hold.beside) do
    if owner then entries[#entries + 1] = entryOf(owner.name, hold) end
  end
  if entries[1] then call("ZREM", KEYS[3], unpack(entries)) end
  call("HDEL", KEYS[2], hold.id)
  for index, held in ipairs(hold.limits) do
    -- The workspace's windows are emptied together with those of the key.
    local owner, number = hold.beside[(held.owner or 0) + 1], hold.numbers[(held.owner or 0) + 1] or 0
    local holder = not held.owner and free or owner
    local state, units = holder and holder.windows[held.window], held.units - (usedLimits[index] or 0)
    if state and held.mark and units > 0 and not (owner and not isReturnable(owner, held, number)) then
      returnUnits(state, held, units, moment)
      holder.isMoved, state.isMoved = true, true
    end
  end
  for place, owner in ipairs(hold.beside) do
    if owner then
      local sums, number = owner.sums, hold.numbers[place] or 0
      if sums then
        local uses = hold.usesOf == place - 1 and number >= sums.setBefore and hold.uses or 0
        local added = uses > 0 and uses - usedUses or 0
        if sums.raises ~= "" then added, sums.raises = usesAfterRaises(sums, number, added) end
        if owner.remaining then owner.remaining = owner.remaining + added end
        sums.open, sums.uses = math.max(0, sums.open - (hold.isSlots and 0 or 1)), math.max(0, sums.uses - uses)
        if sums.uses == 0 then sums.raises = "" end
      end
      -- Else it was not the first of them to end.
      if not sums or hold.expiresAt <= sums.nextEnd then settleSums(owner) end
      owner.isMoved = true
    end
  end
end

-- Ends what is over, as of its end.
local function expire(hold)
  giveBack(hold, 0, NOTHING, hold.expiresAt)
  if not hold.isSlots and hold.beside[1] then
    local key = hold.id == id and step ~= "f" and KEYS[4] or given["f" .. hold.id]
    call("SET", key, format("%.0f", now + REMEMBER_END_MS), "PX", format("%.0f", REMEMBER_END_MS))
  end
end

local function stateText(state)
  local text = format("%.0f:%.0f", state.at, state.used)
  for index, units in ipairs(state.earlier) do text = text .. (index == 1 and ":" or ",") .. format("%.0f", units) end
  return text
end

local function usageText(owner)
  return (owner.remaining and format("%.0f ", owner.remaining) or "- ") .. format("%.0f ", owner.refilledAt) .. owner.lastRefillAt
end

local function writeAll()
  for _, owner in pairs(counters) do
    if owner and owner.isMoved then
      for window, state in pairs(owner.windows) do
        if state and state.isMoved then
          local _, stop = find(owner.rest, " " .. window .. "=", 1, true)
          owner.rest = sub(owner.rest, 1, stop) .. stateText(state) .. sub(owner.rest, match(owner.rest, "^%S*()", stop + 1))
        end
      end
      if owner.name and not owner.sums then call("HDEL", KEYS[2], " " .. owner.name) end
      local text = owner.head .. usageText(owner) .. owner.holders .. owner.rest
      call("HSET", owner.home, owner.field, owner.sums and text .. sumsText(owner.sums) or text)
    end
  end
  for _, state in pairs(free.windows) do
    -- For as long as it was kept anyway: slots that are renewed for longer.
    local key = state and state.isMoved and state.key
    if key then call("SET", key, stateText(state) .. state.last, "KEEPTTL") end
    if key and state.endsAt then call("PEXPIRE", key, format("%.0f", state.endsAt + KEPT_AFTER_END_MS - now), "GT") end
  end
end

-- 3. The steps.

local ofRecord, placeOfRecord
if step == "f" or step == "s" then
  local head = call("HGET", KEYS[4], id) or ""
  local _, stop = find(head, "^%S* %S* @")
  placeOfRecord = stop and "w" .. sub(head, stop + 1) or ARGV[at] .. id
  ofRecord = find(head, "^%S* %S* [^\n]") and load(placeOfRecord)
  if isCorrupt then return { "CORRUPT" } end
  if not ofRecord then return { step == "f" and "REFRESHED" or "RESTORED", step == "f" and "0" or nil } end
end

if step == "s" then
  local owner, sums, wanted = ofRecord, ARGV[at + 1], {}
  local lastName = whole(call("HGET", KEYS[1], "holds") or "0")
  if not lastName then return { "CORRUPT" } end
  local name = owner.name or format("%.0f", lastName + 1)
  for number = at + 2, sums ~= "-" and #ARGV or 0, 2 do
    wanted[ARGV[number]] = true
    parseHold(ARGV[number + 1])
  end
  owner.sums = sumsOf(" =" .. name .. "/" .. sums)
  if isCorrupt or not owner.sums and sums ~= "-" then return { "CORRUPT" } end
  local from, to = rangeOf(name)
  for _, entry in ipairs(call("ZRANGEBYLEX", KEYS[3], from, to)) do
    local other = sub(entry, #name + 18)
    if not wanted[other] then detachHold(name, entry) end
  end
  for number = at + 2, sums ~= "-" and #ARGV or 0, 2 do
    local hold, before = parseHold(ARGV[number + 1]), call("HGET", KEYS[2], ARGV[number])
    local names = { "-", match(hold.head, " (%S+) ") ~= "-" and "-" or nil }
    local oldNames, oldText = match(before or "", "^(%S+) (.*)$")
    local place = 1
    for old in gmatch(oldNames or "", "[^,]+") do
      names[place], place = old, place + 1
    end
    hold.id, names[ARGV[at] == "k" and 1 or 2] = ARGV[number], name
    local old = oldText and parseHold(oldText)
    for _, each in ipairs(names) do
      if old and old.expiresAt then
        old.id = hold.id
        call("ZREM", KEYS[3], entryOf(each, old))
      end
      if each ~= "-" then call("ZADD", KEYS[3], "0", entryOf(each, hold)) end
    end
    call("HSET", KEYS[2], hold.id, table.concat(names, ",") .. " " .. ARGV[number + 1])
  end
  owner.isMoved = true
  if owner.sums and not owner.name then
    call("HSET", KEYS[1], "holds", name)
    call("HSET", KEYS[2], " " .. name, placeOfRecord)
  end
  writeAll()
  return { "RESTORED" }
end

if step == "f" then
  local owner = ofRecord
  local over, ended, gone, oldest, amount = {}, {}, {}, nil, sub(ARGV[at + 1], 1, 1) ~= "-"
  if owner.name then
    local from, to = rangeOf(owner.name)
    local latest = "(" .. owner.name .. " " .. format("%016.0f", now + 1)
    over = call("ZRANGEBYLEX", KEYS[3], from, latest, "LIMIT", "0", format("%d", MOST_ENDED_AT_ONCE + 1))
    for number = 1, math.min(#over, MOST_ENDED_AT_ONCE) do
      local holdId = sub(over[number], #owner.name + 18)
      local hold = look(holdId)
      if hold then
        readWindows(hold)
        if not hold.isSlots and hold.beside[1] then keyOf("f" .. holdId) end
        ended[#ended + 1] = hold
      else
        -- Somebody has taken it away behind our back.
        gone[#gone + 1] = over[number]
      end
    end
    for number, entry in ipairs(amount and call("ZRANGEBYLEX", KEYS[3], from, to) or {}) do
      local text = number > #ended + #gone and call("HGET", KEYS[2], sub(entry, #owner.name + 18))
      local names, numbers = match(text or "", "^(%S+) %S+ %S+ %d+ %d+ %d+ %d+ %S+ ([%d,]+)")
      local nextNumber = gmatch(numbers or "", "%d+")
      for name in gmatch(names or "", "[^,]+") do
        local own = read(nextNumber())
        if name == owner.name and own then oldest = math.min(oldest or own, own) end
      end
    end
  end
  if isCorrupt then return { "CORRUPT" } end
  if #missing > 1 then return missing end
  local reply = { "REFRESHED", #over > MOST_ENDED_AT_ONCE and "1" or "0" }
  for _, hold in ipairs(ended) do
    expire(hold)
    reply[#reply + 1], reply[#reply + 2] = hold.id, hold.text
  end
  for _, entry in ipairs(gone) do call("ZREM", KEYS[3], entry) end
  if owner.name then
    settleSums(owner)
    owner.isMoved = true
  end
  if amount then
    owner.remaining, owner.refilledAt, owner.lastRefillAt =
      applyRefill(ARGV[at + 1], owner.remaining, owner.refilledAt, owner.lastRefillAt, owner.sums, oldest or 0)
    owner.isMoved = true
  end
  writeAll()
  return reply
end

local function unitsText(used)
  local units = {}
  for index, each in ipairs(used) do units[index] = format("%.0f", each) end
  return #units == 0 and "-" or table.concat(units, ",")
end

-- What an end says was used of each limit; nil where it names one that nothing is held of, or slots.
local function usedOf(hold)
  local used, named = {}, 0
  for index, held in ipairs(hold.limits) do
    local units = ARGV[at + 1] == "1" and held.units or 0
    local name = match(held.window, "[^:]*$")
    if held.mark == "c" then
      units = 0
    else
      for number = at + 2, #ARGV, 2 do
        if ARGV[number] == name then
          named, units = named + 1, tonumber(ARGV[number + 1])
          break
        end
      end
    end
    used[index] = held.units == 0 and 0 or units
  end
  if named < (#ARGV - at - 1) / 2 then return nil end
  return used, ARGV[at] == "-" and hold.uses or tonumber(ARGV[at])
end

local texts = call("HMGET", KEYS[2], id, id .. ".s")
local hold = texts[1] and findHold(id, texts[1])
if not hold then
  local known = call("GET", KEYS[4])
  if isCorrupt then return { "CORRUPT" } end
  if not known then return { "UNKNOWN" } end
  local isAlone, uses, units, text = whole(known), match(known, "^%d+ %d+ (%d+) ([%d,-]+) %S+ %S+ %S+ (.*)$")
  local ended = text and parseHold(text)
  if isCorrupt or not (isAlone or ended) then return { "CORRUPT" } end
  -- A write, though it changes nothing: where replicas are waited for, the repeat is not answered before they have the first.
  call("SET", KEYS[4], known, "KEEPTTL")
  if isAlone then return { "EXPIRED" } end
  if step == "r" then return { "CONFLICT" } end
  local used, usedUses = usedOf(ended)
  local isSame = used and usedUses == tonumber(uses) and unitsText(used) == units
  return { isSame and "REPEAT" or "CONFLICT", known }
end

local slots = texts[2] and findHold(id .. ".s", texts[2])
local isOver = not isCorrupt and hold.expiresAt <= now
local areSlotsOver = not isCorrupt and slots and (isOver or slots.expiresAt <= now)
if isCorrupt then return { "CORRUPT" } end
local used, usedUses
if not isOver and step == "e" then
  used, usedUses = usedOf(hold)
  if not used then return { "UNNAMED", hold.text } end
  if usedUses > hold.uses then return { "OVER", hold.text } end
  for index, units in ipairs(used) do
    if units > hold.limits[index].units then return { "OVER", hold.text } end
  end
end
if isOver or used then readWindows(hold) end
if slots and (areSlotsOver or used) then readWindows(slots) end
if step == "r" then
  readFreeSlots(hold)
  if slots then readFreeSlots(slots) end
end
if isCorrupt then return { "CORRUPT" } end
if #missing > 1 then return missing end

if isOver then
  if slots then expire(slots) end
  expire(hold)
  writeAll()
  return { "EXPIRED", hold.text }
end

if step == "r" then
  if areSlotsOver then expire(slots) end
  for _, each in ipairs({ hold, slots and not areSlotsOver and slots or nil }) do
    local span = tonumber(ARGV[at]) or each.ttl
    for _, held in ipairs(ARGV[at] ~= "-" and each.limits or NOTHING) do
      if held.mark == "c" then span = math.min(span, held.duration) end
    end
    for _, owner in ipairs(each.beside) do
      if owner then call("ZREM", KEYS[3], entryOf(owner.name, each)) end
    end
    each.expiresAt = math.min(now + span, LAST_INSTANT)
    each.text = each.head .. format("%.0f", each.expiresAt) .. each.tail
    call("HSET", KEYS[2], each.id, each.names .. " " .. each.text)
    for _, held in ipairs(each.limits) do
      -- The workspace forgets what has long ended: slots that are renewed have not.
      local state = not held.owner and held.mark == "c" and free.windows[held.window]
      if state then state.at, state.endsAt, state.isMoved = math.max(state.at, now), each.expiresAt, true end
    end
    for _, owner in ipairs(each.beside) do
      if owner then call("ZADD", KEYS[3], "0", entryOf(owner.name, each)) end
    end
  end
  for _, owner in ipairs(hold.beside) do
    if owner then
      settleSums(owner)
      owner.isMoved = true
    end
  end
  writeAll()
  return { "RENEWED", hold.text }
end

if slots then giveBack(slots, 0, NOTHING, now) end
giveBack(hold, usedUses, used, now)
local owner = hold.usesOf and hold.beside[hold.usesOf + 1]
local ended = format("%.0f %.0f %.0f ", now + REMEMBER_END_MS, now, usedUses) .. unitsText(used)
ended = ended .. " " .. (owner and usageText(owner) or "- - -") .. " " .. hold.text
call("SET", KEYS[4], ended, "PX", format("%.0f", REMEMBER_END_MS))
writeAll()
return { "ENDED", ended }
