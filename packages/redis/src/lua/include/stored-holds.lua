-- Parses stored holds and counters. All of it is parsed before anything is written: isCorrupt says whether any of it is damaged.
local function read(text)
  local number = whole(text)
  if not number then isCorrupt = true end
  return number
end

local counters = {}
-- The counters at a place as in hold-sums.lua; false if there are none.
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

-- The state of a limit.
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

-- Parses the text of a hold, after the names of its counters.
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
    local owner, window, units, takenAt, rate, flowed, next = match(text, "^ ([%d-])/([^= ]+)=(%d+):(%d+):(%d+):?(%d*)()", after)
    units, takenAt, rate, flowed = tonumber(units), tonumber(takenAt), tonumber(rate), tonumber(flowed)
    if not owner or math.max(units, takenAt, rate, flowed or 0) > MAX then
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
      flowed = flowed,
      mark = mark,
      duration = tonumber(duration),
    }, next
  end
  return hold
end

local seen = {}
-- A hold with the counters that it is beside, false for those that are gone; nil if there is no hold. `text`: its text, if it is known.
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

local function readWindows(hold)
  for _, held in ipairs(hold.limits) do
    local owner = held.owner and hold.beside[held.owner + 1]
    if not held.owner then owner = free end
    if owner then windowOf(owner, held.window) end
  end
end

-- The range of KEYS[3] with the ends of holds beside the counters of a name, and the entry of one of them.
local function rangeOf(name)
  return "[" .. name .. " ", "(" .. name .. "!"
end

local function entryOf(name, hold)
  return name .. " " .. format("%016.0f", hold.expiresAt) .. hold.id
end
