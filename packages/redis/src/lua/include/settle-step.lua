-- Ends or renews a hold: the work of settle.lua, with KEYS up to lastKey and ARGV up to lastArg.
-- include hold-keys.lua
-- include stored-holds.lua
-- include give-back.lua
-- include end-over.lua
-- include write-counters.lua
-- include count.lua
local LAST_INSTANT, step = 8640000000000000, ARGV[3]
local isAlone = step == "a"
if isAlone then step = "e" end
local subjects = step == "e" and tonumber(ARGV[lastArg]) or 0
local limitsEnd = subjects == 0 and lastArg - 1 or lastArg - 2 - subjects

-- A hold with the counters that it is beside; nil if the counters of its key are gone, unless a process took it ahead as a lease.
local function findHold(holdId, text)
  local hold = look(holdId, text)
  return hold and (hold.beside[1] or sub(holdId, 1, 4) == "lse_") and hold or nil
end

-- The counters that a hold is beside, if holds beside one of them are over. A lease waits for none, nor does an end alone.
local function countersWithOver(hold)
  local owners, isAnyOver = {}, false
  for _, owner in ipairs((isAlone or sub(hold.id, 1, 4) == "lse_") and NOTHING or hold.beside) do
    if owner and owner.sums then
      owners[#owners + 1], isAnyOver = owner, isAnyOver or owner.sums.nextEnd <= now
    end
  end
  return isAnyOver and owners or nil
end

-- Reads the slots of a hold that are in windows of the workspace.
local function readFreeSlots(hold)
  for _, held in ipairs(hold.limits) do
    if not held.owner and held.mark == "c" then windowOf(free, held.window) end
  end
end

local function unitsText(used)
  local units = {}
  for index, each in ipairs(used) do units[index] = format("%.0f", each) end
  return #units == 0 and "-" or table.concat(units, ",")
end

-- The units of each limit and the uses that were used; nil if the end names slots, or a limit of which nothing is held.
local function usedOf(hold)
  local used, named = {}, 0
  for index, held in ipairs(hold.limits) do
    local units = ARGV[at + 1] == "1" and held.units or 0
    local name = match(held.window, "[^:]*$")
    if held.mark == "c" then
      units = 0
    else
      for number = at + 2, limitsEnd, 2 do
        if ARGV[number] == name then
          named, units = named + 1, tonumber(ARGV[number + 1])
          break
        end
      end
    end
    used[index] = held.units == 0 and 0 or units
  end
  if named < (limitsEnd - at - 1) / 2 then return nil end
  return used, ARGV[at] == "-" and hold.uses or tonumber(ARGV[at])
end

local function settle()
  local texts = call("HMGET", KEYS[2], id, id .. ".s")
  local hold = texts[1] and findHold(id, texts[1])
  if not hold then
    local known = call("GET", KEYS[4])
    if isCorrupt then return { "CORRUPT" } end
    if not known then return { "UNKNOWN" } end
    local isAlone, uses, units, text = whole(known), match(known, "^%d+ %d+ (%d+) ([%d,-]+) %S+ %S+ %S+ (.*)$")
    local ended = text and parseHold(text)
    if isCorrupt or not (isAlone or ended) then return { "CORRUPT" } end
    -- Writes, though it changes nothing: where replicas are waited for, the repeat is not answered before they have the first.
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
  local owners = used and countersWithOver(hold)
  if owners then
    local over, gone = findOver(owners)
    if isCorrupt then return { "CORRUPT" } end
    if #missing > 1 then return missing end
    local reply = endOver(owners, over, gone, true)
    writeAll()
    return reply
  end
  if isOver or used then readWindows(hold) end
  if slots and (areSlotsOver or used) then readWindows(slots) end
  if step == "r" then
    readFreeSlots(hold)
    if slots then readFreeSlots(slots) end
  end
  if isCorrupt then return { "CORRUPT" } end
  if #missing > 1 then return missing end
  local isCounted = subjects > 0 and used and usedUses > 0
  local sums = isCounted and readSums(subjects, lastKey, lastArg - 2)
  if isCounted and not sums then return { "CORRUPT" } end

  if isOver then
    if slots then expire(slots) end
    expire(hold, KEYS[4])
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
        -- The workspace deletes windows that ended long ago: slots that are renewed have not.
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
  if isCounted then addToSums(sums, ARGV[lastArg - 1] .. format("%.0f", usedUses)) end
  return { "ENDED", ended }
end
