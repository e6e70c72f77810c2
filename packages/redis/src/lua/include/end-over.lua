-- Ends holds that are over, beside some counters.
local MOST_ENDED_AT_ONCE = 100

-- The holds that are over beside these counters, earliest end first, at most as many as one step ends; entries of KEYS[3] without a
-- hold; and whether there are more. Everything needed to end them is read here, or noted as missing.
local function findOver(owners)
  local found, known, gone, over = {}, {}, {}, {}
  for _, owner in ipairs(owners) do
    local from = rangeOf(owner.name)
    local latest = "(" .. owner.name .. " " .. format("%016.0f", now + 1)
    local entries = call("ZRANGEBYLEX", KEYS[3], from, latest, "LIMIT", "0", format("%d", MOST_ENDED_AT_ONCE + 1))
    for _, entry in ipairs(entries) do
      local endAndId = sub(entry, #owner.name + 2)
      local hold = look(sub(endAndId, 17))
      if not hold then
        -- The hold was removed from outside.
        gone[#gone + 1] = entry
      elseif not known[endAndId] then
        known[endAndId], found[#found + 1] = hold, endAndId
      end
    end
  end
  table.sort(found)
  for number = 1, math.min(#found, MOST_ENDED_AT_ONCE) do
    local hold = known[found[number]]
    readWindows(hold)
    if not hold.isSlots and hold.beside[1] then keyOf("f" .. hold.id) end
    over[number] = hold
  end
  return over, gone, #found > MOST_ENDED_AT_ONCE
end

-- Ends these holds, and returns the reply.
local function endOver(owners, over, gone, hasMore)
  local reply = { "REFRESHED", hasMore and "1" or "0" }
  for _, hold in ipairs(over) do
    expire(hold, given["f" .. hold.id])
    reply[#reply + 1], reply[#reply + 2] = hold.id, hold.text
  end
  for _, entry in ipairs(gone) do call("ZREM", KEYS[3], entry) end
  for _, owner in ipairs(owners) do
    settleSums(owner)
    owner.isMoved = true
  end
  return reply
end
