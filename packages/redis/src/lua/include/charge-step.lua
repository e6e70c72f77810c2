local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, find, sub, format, byte = string.match, string.find, string.sub, string.format, string.byte
local MAX, KEPT_AFTER_END_MS, SHARED = 9007199254740991, 86400000, byte("@")
local revision = call("HGET", KEYS[1], "revision") or "0"
-- include holds.lua
-- include other-limit.lua
-- include whole.lua

local function charge(nextKey, at)
  -- 1. The records that the decision rests on. Counters are {key, text, field, whether they changed}.
  local now, cost, letters = tonumber(ARGV[at + 2]), 1, ARGV[at + 4]
  if ARGV[at + 3] ~= "-" and revision ~= ARGV[at + 3] then return "STALE 0" end
  local confirmed, limits, firstLimit, limitsAt, limitKeys = 0, 0
  local counters, uses, isPeek, amount, dueAt, hold, memory, fingerprint, rememberUntil, about = {}
  at = at + 5
  for position = 1, #letters do
    local letter = byte(letters, position)
    if letter == 114 or letter == 82 then -- r, R
      local home, id = KEYS[nextKey], ARGV[at]
      local head = call("HGET", home, id)
      confirmed = confirmed + 1
      if not holds(head, ARGV[at + 1]) then return "STALE " .. confirmed end
      local place = head and match(head, "^%S* %S* ()")
      if place and byte(head, place) == SHARED then
        home, id = KEYS[1], sub(head, place + 1)
        head = call("HGET", home, id)
      end
      counters[confirmed] = place and head and { home, head, id, false } or nil
      if letter == 82 then uses = confirmed end
      nextKey, at = nextKey + 1, at + 2
    elseif letter == 99 then -- c
      cost, at = tonumber(ARGV[at]), at + 1
    elseif letter == 108 then -- l
      isPeek = true
    elseif letter == 102 then -- f
      amount, dueAt, at = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), at + 2
    elseif letter == 70 then -- F
      dueAt, at = tonumber(ARGV[at]), at + 1
    elseif letter == 104 then -- h
      hold, at, nextKey = { at, nextKey }, at + 7 + #ARGV[at + 3], nextKey + 2
    elseif letter == 113 then -- q
      memory, fingerprint, rememberUntil, about = KEYS[nextKey], ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
    else
      if limits == 0 then firstLimit, limitsAt, limitKeys = position, at, nextKey end
      limits, at = limits + 1, at + 4
      if letter == 112 then nextKey = nextKey + 1 end -- p
    end
  end
  -- Two confirmed records may share their counters.
  for later = 2, confirmed do
    for earlier = 1, counters[later] and later - 1 or 0 do
      local one, other = counters[earlier], counters[later]
      if one and one[1] == other[1] and one[3] == other[3] then counters[later] = one end
    end
  end

  -- 2. A repeated request.
  local known = memory and call("GET", memory)
  if known then
    local knownFingerprint, knownUntil, result = match(known, "^([^\n]*)\n(%d+)\n(.*)$")
    knownUntil = tonumber(knownUntil)
    if not knownUntil then return "CORRUPT" end
    if knownUntil > now then
      if knownFingerprint ~= fingerprint then return "CONFLICT" end
      -- Writes, though it changes nothing: where replicas are waited for, the repeat is not answered before they have the first.
      call("SET", memory, known, "KEEPTTL")
      return "REPEAT " .. result
    end
  end

  -- 3. What has to be settled first, and the uses, with a due refill applied. Nil stands for unlimited.
  local usesHeld
  for number = 1, confirmed do
    local owner = counters[number]
    local _, stop = find(owner and owner[2] or "", " =", 1, true)
    if stop then
      local nextEnd, held = match(owner[2], "^%d+/(%d+);%d+;(%d+);", stop + 1)
      nextEnd = tonumber(nextEnd)
      if not (nextEnd and nextEnd <= MAX) then return "CORRUPT" end
      if nextEnd <= now then return "UNSETTLED " .. number end
      owner[5] = stop
      if number == uses then usesHeld = held ~= "0" end
    end
  end
  local remaining, place, head, refilled = nil, nil, "-", ""
  if uses then
    -- A record that does not exist has no uses, and gets none.
    local text = counters[uses] and counters[uses][2] or "  0 0 - 1"
    place, head = match(text, "^%S* %S* ()([%d-]+) %d+ %S+ ")
    remaining = tonumber(head)
    if head ~= "-" and not (remaining and remaining >= 0 and remaining <= MAX) then return "CORRUPT" end
    if remaining and dueAt then
      local refilledAt, lastRefillAt = match(text, "^%S+ (%d+) (%S+)", place)
      if not (tonumber(refilledAt) <= MAX) then return "CORRUPT" end
      if tonumber(refilledAt) < dueAt then
        if usesHeld or not amount then return "UNSETTLED " .. uses end
        remaining, head = math.max(remaining, amount), head .. " " .. refilledAt .. " " .. lastRefillAt
        refilled = format(" %.0f %.0f", dueAt, dueAt)
      end
    end
  end

  -- 4. The state of each limit: {at, used, the bounds of its text in the text of the counters, the counters, the key, when it ends}; for
  -- a limit that is not a plain window also units of the state per unit, earlier, whether it is a shadow without room, and units taken
  -- for a lease.
  local windows, isLimited, windowKey = limits > 0 and {}, false, limitKeys
  for limit = 1, limits do
    local first, letter = limitsAt + limit * 4 - 4, byte(letters, firstLimit + limit - 1)
    local owner, text, stop, last, key = counters[letter - 32], nil, 0, nil, nil
    if letter == 112 then -- p
      key, windowKey = KEYS[windowKey], windowKey + 1
      text = call("GET", key)
    elseif owner then
      last, stop = find(owner[2], ARGV[first], 1, true)
      text = stop and owner[2]
    end
    local most, duration, units = tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2]), tonumber(ARGV[first + 3])
    local storedAt, storedUsed, storedEarlier
    if text then
      storedAt, storedUsed, storedEarlier, last = match(text, "^(%d+):(%d+):?([%d,]*)()", stop + 1)
      storedAt, storedUsed = tonumber(storedAt), tonumber(storedUsed)
      if not (storedAt and storedAt <= MAX and storedUsed <= MAX) then return "CORRUPT" end
    end
    if most then
      -- Not the operator %: it divides, and is off by a whole window for some instants beyond 2^52.
      local startedAt, used = now - math.fmod(now, duration), 0
      if storedAt and storedAt >= startedAt then startedAt, used = storedAt, storedUsed end
      windows[limit] = { startedAt, used, stop, last, owner, key, startedAt + duration }
      if not (used + units <= most) then isLimited = true end
    else
      local isShadow, room, unit, startedAt, used, earlier, ends, leased =
        otherLimit(ARGV[first + 1], storedAt, storedUsed, storedEarlier, duration, now, units)
      if isShadow == nil then return "CORRUPT" end
      local isOver = not (units <= room)
      windows[limit] = { startedAt, used, stop, last, owner, key, ends, unit, earlier, isShadow and isOver, leased }
      if isOver and not isShadow then isLimited = true end
    end
  end

  -- 5. The decision. Limits refuse before uses do.
  local isShort = remaining and not (remaining > 0 and cost <= remaining)
  local isTaken = not (isLimited or isShort)
  local left = remaining and format("%.0f", isTaken and remaining - cost or remaining) or "-"
  local answer = (isLimited and "rate-limited " or isShort and "usage-exceeded " or "charged ") .. left

  -- 6. The hold, and the sums of holds beside the counters.
  local held, ends, beside, taken, lastName
  if hold and isTaken and not isPeek then
    local first, kinds = hold[1], ARGV[hold[1] + 3]
    held, ends, beside, taken = KEYS[hold[2]], KEYS[hold[2] + 1], {}, {}
    -- Only to fail on a key of another type before anything is written.
    call("ZCARD", ends)
    call("HEXISTS", held, ARGV[first + 4])
    local names, isAll, span, slotSpan = "", ARGV[first] == "a", tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2])
    for place = 1, #kinds do
      local owner, sums = counters[place], nil
      local name, nextEnd, open, units, next, rest = "-", MAX, 0, 0, 0, ";0;;"
      if owner and owner[5] then
        name, nextEnd, open, units, next, rest =
          match(owner[2], "^(%d+)/(%d+);(%d+);(%d+);(%d+)(;%d+;[%d/,]*;[^; ]*)", owner[5] + 1)
        nextEnd, open, units, next = tonumber(nextEnd), tonumber(open), tonumber(units), tonumber(next)
        if not (name and open <= MAX and units <= MAX and next <= MAX) then return "CORRUPT" end
      elseif owner then
        lastName = lastName or whole(call("HGET", KEYS[1], "holds") or "0")
        if not lastName then return "CORRUPT" end
        lastName = lastName + 1
        name = format("%.0f", lastName)
      end
      if open >= tonumber(ARGV[first + 6 + place]) then return "FULL " .. place end
      names = place == 1 and name or names .. "," .. name
      beside[place] = { name, nextEnd, open, units, next, rest }
    end
    for part = isAll and 1 or 2, slotSpan and 2 or 1 do
      local isSlots, own, spanMs = part == 2, cost, span
      if isSlots then own, spanMs = 0, math.min(span, slotSpan) end
      local expiresAt, usesOf, numbers = math.min(now + spanMs, 8640000000000000), remaining and uses, ""
      for place = 1, #kinds do
        local sums = beside[place]
        numbers = numbers .. format(place == 1 and "%.0f" or ",%.0f", sums[5])
        sums[5] = sums[5] + 1
        if expiresAt < sums[2] then sums[2] = expiresAt end
        if not (isAll and isSlots) then sums[3] = sums[3] + 1 end
        if place == usesOf then sums[4] = sums[4] + own end
      end
      local id, usesPlace = ARGV[first + 4], usesOf and usesOf - 1 or "-"
      local text = format("%s %s %s %.0f %.0f %.0f %.0f %s %s", names, ARGV[first + 5], ARGV[first + 6], now, expiresAt, spanMs, own, usesPlace, numbers)
      for limit = 1, limits do
        local at, window = limitsAt + limit * 4 - 4, windows[limit]
        local figures, owner = ARGV[at + 1], byte(letters, firstLimit + limit - 1)
        local kind = byte(figures)
        if ARGV[at + 3] ~= "0" and isSlots == (kind == 99) then -- c
          local units, rate = window[10] and "0" or ARGV[at + 3], kind == 116 and match(figures, "%d+") or "0" -- t
          text = format("%s %s/%s%s:%.0f:%s", text, owner == 112 and "-" or owner - 33, sub(ARGV[at], 2), units, window[1], rate)
          if kind == 116 then
            -- Inflow is counted from now on, since units may come back.
            local isCounted = find(window[9], ",", 1, true)
            if isAll and not (isCounted or window[10] or window[11]) then
              window[9] = format("%s,0,%.0f", window[9] == "" and "0" or window[9], window[1])
            end
            local flowed = match(window[9], ",(%d+)")
            if flowed then text = text .. ":" .. flowed end
          end
        end
      end
      taken[#taken + 1] = { isAll and isSlots and id .. ".s" or id, text, format("%.0f", expiresAt) }
    end
  end

  -- 7. The answer and the new texts. A window is answered as it is stored.
  for limit = 1, limits do
    local first, window = limitsAt + limit * 4 - 4, windows[limit]
    local owner, key, units = window[5], window[6], isTaken and not window[10] and tonumber(ARGV[first + 3]) or 0
    local text = format("%.0f:%.0f", window[1], window[2] + units * (window[8] or 1))
    if window[11] and units > 0 then
      local leased, rest = match(window[9], "^(%d*)(.*)$")
      window[9] = format("%.0f", (tonumber(leased) or 0) + window[11]) .. rest
    end
    if window[9] and window[9] ~= "" then text = text .. ":" .. window[9] end
    answer = answer .. " " .. text
    if window[10] then answer = answer .. "!" end
    if key and units > 0 and not isPeek then
      local leftMs = window[7] + KEPT_AFTER_END_MS - now
      -- With its name for scans, since the name of the key may have a digest of it.
      call("SET", key, text .. ARGV[first], "PX", format("%.0f", leftMs))
    elseif owner and units > 0 then
      local stop, last = window[3], window[4]
      if owner[4] then
        -- An earlier window has moved this one in the text.
        last, stop = find(owner[2], ARGV[first], 1, true)
        last = stop and match(owner[2], "^%S*()", stop + 1)
      end
      owner[4] = true
      owner[2] = last and sub(owner[2], 1, stop) .. text .. sub(owner[2], last) or owner[2] .. ARGV[first] .. text
    end
  end
  if isPeek then return answer end
  if isTaken and remaining and counters[uses] and (refilled ~= "" or cost > 0) then
    local owner = counters[uses]
    owner[2], owner[4] = sub(owner[2], 1, place - 1) .. left .. refilled .. sub(owner[2], place + #head), true
  end

  if taken then
    local entries = {}
    for place, sums in ipairs(beside) do
      local owner, name = counters[place], sums[1]
      if owner then
        local word = format(" =%s/%.0f;%.0f;%.0f;%.0f%s", name, sums[2], sums[3], sums[4], sums[5], sums[6])
        local first, stop = find(owner[2], " =", 1, true)
        if first then word = sub(owner[2], 1, first - 1) .. word .. sub(owner[2], match(owner[2], "^%S*()", stop + 1)) end
        owner[2], owner[4] = first and word or owner[2] .. word, true
        if not owner[5] then
          local where = owner[1] == KEYS[1] and "w" or sub(ARGV[hold[1] + 3], place, place)
          call("HSET", KEYS[1], "holds", format("%.0f", lastName))
          call("HSET", held, " " .. name, where .. owner[3])
        end
        for _, one in ipairs(taken) do entries[#entries + 1], entries[#entries + 2] = "0", name .. format(" %016.0f", one[3]) .. one[1] end
      end
    end
    if entries[1] then call("ZADD", ends, unpack(entries)) end
    for _, one in ipairs(taken) do call("HSET", held, one[1], one[2]) end
    answer = answer .. " " .. taken[1][1] .. " " .. taken[1][3]
  end

  -- 8. Everything was read and is valid: nothing here or above can fail halfway.
  for number = 1, confirmed do
    local owner = counters[number]
    if owner and owner[4] then call("HSET", owner[1], owner[3], owner[2]) end
  end
  if memory and rememberUntil > now then
    local value = fingerprint .. format("\n%.0f\n", rememberUntil) .. answer .. "\n" .. about
    call("SET", memory, value, "PX", format("%.0f", rememberUntil - now))
  end
  return answer
end
