-- Gives back what holds have taken. Nothing here can fail once everything was read.
-- include groups.lua
-- include inflow.lua
local REMEMBER_END_MS = 3600000

-- Updates what counters know of their holds: their next end, or nil if none is left.
local function settleSums(owner)
  local from, to = rangeOf(owner.name)
  local first = call("ZRANGEBYLEX", KEYS[3], from, to, "LIMIT", "0", "1")[1]
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
local function returnUnits(state, held, units, moment, isLeased)
  local duration = held.duration
  if held.mark == "t" then
    local leased, flowed, since = unpack(state.earlier)
    leased = leased or 0
    if isLeased then
      local passed = math.max(0, moment - state.at)
      local isFull = passed >= ceilDiv(math.max(0, state.used - leased * duration), held.rate)
      local used = isFull and leased * duration or state.used - passed * held.rate
      local left = math.max(0, leased - held.units)
      if since then
        state.earlier = { left, withInflow(flowed, since, math.max(0, state.used - used), state.at + passed) }
      else
        state.earlier = left > 0 and { left } or {}
      end
      state.at, state.used = state.at + passed, math.max(0, used - units * duration)
      return
    end
    local due, inflow = units * duration, nil
    if held.flowed and since and since <= held.at then
      inflow = flowed - held.flowed
    else
      -- Compared before it is multiplied: the product may be above 2^53.
      local passed = math.max(moment, state.at) - held.at
      inflow = passed >= ceilDiv(due, held.rate) and due or passed * held.rate
    end
    if inflow < due then state.used = math.max(leased * duration, state.used - (due - inflow)) end
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

-- Gives back what was not used, and deletes the hold.
local function giveBack(hold, usedUses, usedLimits, moment)
  -- First the keys of which nothing was read: they may be of another type.
  local entries = {}
  for _, owner in ipairs(hold.beside) do
    if owner then entries[#entries + 1] = entryOf(owner.name, hold) end
  end
  if entries[1] then call("ZREM", KEYS[3], unpack(entries)) end
  call("HDEL", KEYS[2], hold.id)
  local isLeased = sub(hold.id, 1, 4) == "lse_"
  for index, held in ipairs(hold.limits) do
    -- The windows of the workspace are emptied together with those of the key.
    local owner, number = hold.beside[(held.owner or 0) + 1], hold.numbers[(held.owner or 0) + 1] or 0
    local holder = not held.owner and free or owner
    local state, units = holder and holder.windows[held.window], held.units - (usedLimits[index] or 0)
    if state and held.mark and (units > 0 or isLeased) and not (owner and not isReturnable(owner, held, number)) then
      returnUnits(state, held, units, moment, isLeased)
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
      -- Unless another hold ends first: then the next end stays.
      if not sums or hold.expiresAt <= sums.nextEnd then settleSums(owner) end
      owner.isMoved = true
    end
  end
end

-- Ends a hold that is over, as of its end. `key`: where the end is remembered.
local function expire(hold, key)
  giveBack(hold, 0, NOTHING, hold.expiresAt)
  if not hold.isSlots and hold.beside[1] then
    call("SET", key, format("%.0f", now + REMEMBER_END_MS), "PX", format("%.0f", REMEMBER_END_MS))
  end
end
