-- Writes counters and windows that have changed.
local KEPT_AFTER_END_MS = 86400000

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
    -- The key keeps its expiry, which is extended for renewed slots.
    local key = state and state.isMoved and state.key
    if key then call("SET", key, stateText(state) .. state.last, "KEEPTTL") end
    if key and state.endsAt then call("PEXPIRE", key, format("%.0f", state.endsAt + KEPT_AFTER_END_MS - now), "GT") end
  end
end
