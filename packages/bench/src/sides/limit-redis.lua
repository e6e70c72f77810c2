--[[
  The smallest script that answers a question about a key.

  KEYS[1]  the key: a hash
  KEYS[2]  its identity: a hash; KEYS[1]: it has none
  KEYS[3]  the remembered reply to the request; KEYS[1]: the request has no id
  ARGV[1]  now, Unix epoch ms
  ARGV[2]  three flags, 0 or 1: the question counts something, the address is allowed, the request has an id
  ARGV[3]  required permissions, one of these lists: lists separated by "|", names in them by " "; empty: none
  ARGV[4]  uses to take
  ARGV[5]  and on, five for each limit: owner (1 the key, 2 its identity), index, limit, duration in ms, units to take
  Returns  nil if there is no key, else code, id, API, permissions, expires, remaining, identity id, externalId,
           and for each limit the start of its window and the units used in it
]]
local REMEMBER_MS = 600000

local key = redis.call("HMGET", KEYS[1], "id", "apiId", "enabled", "expires", "permissions", "remaining")
if not key[1] then return nil end
local now = tonumber(ARGV[1])
local identity = { "", "" }
if KEYS[2] ~= KEYS[1] then identity = redis.call("HMGET", KEYS[2], "id", "externalId") end

local function answer(code, remaining, counts)
  local reply = { code, key[1], key[2], key[5], key[4], remaining, identity[1], identity[2] }
  for _, count in ipairs(counts) do reply[#reply + 1] = count end
  return reply
end

local function isGranted()
  if ARGV[3] == "" then return true end
  for all in string.gmatch(ARGV[3], "[^|]+") do
    local hasAll = true
    for name in string.gmatch(all, "%S+") do
      if not string.find(key[5], " " .. name .. " ", 1, true) then hasAll = false end
    end
    if hasAll then return true end
  end
  return false
end

if key[3] ~= "1" then return answer("DISABLED", key[6], {}) end
if key[4] ~= "" and now >= tonumber(key[4]) then return answer("EXPIRED", key[6], {}) end
if string.sub(ARGV[2], 2, 2) ~= "1" then return answer("FORBIDDEN", key[6], {}) end
if not isGranted() then return answer("INSUFFICIENT_PERMISSIONS", key[6], {}) end
if string.sub(ARGV[2], 1, 1) ~= "1" then return answer("VALID", key[6], {}) end

local hasRequestId = string.sub(ARGV[2], 3, 3) == "1"
if hasRequestId then
  local known = redis.call("GET", KEYS[3])
  if known then return cjson.decode(known) end
end

local counts = {}
local isLimited = false
for first = 5, #ARGV, 5 do
  local slot, duration = ARGV[first + 1], tonumber(ARGV[first + 3])
  local window = redis.call("HMGET", KEYS[tonumber(ARGV[first])], "started" .. slot, "used" .. slot)
  local startedAt = string.format("%.0f", now - now % duration)
  local used = window[1] == startedAt and tonumber(window[2]) or 0
  if used + tonumber(ARGV[first + 4]) > tonumber(ARGV[first + 2]) then isLimited = true end
  counts[#counts + 1] = startedAt
  counts[#counts + 1] = string.format("%.0f", used)
end

local reply
local remaining = tonumber(key[6])
if isLimited then
  reply = answer("RATE_LIMITED", key[6], counts)
elseif remaining and remaining < tonumber(ARGV[4]) then
  reply = answer("USAGE_EXCEEDED", key[6], counts)
else
  for first = 5, #ARGV, 5 do
    local slot, place = ARGV[first + 1], (first - 5) / 5 * 2 + 1
    counts[place + 1] = string.format("%.0f", tonumber(counts[place + 1]) + tonumber(ARGV[first + 4]))
    local owner = KEYS[tonumber(ARGV[first])]
    redis.call("HSET", owner, "started" .. slot, counts[place], "used" .. slot, counts[place + 1])
  end
  local left = key[6]
  if remaining then
    left = string.format("%.0f", remaining - tonumber(ARGV[4]))
    redis.call("HSET", KEYS[1], "remaining", left)
  end
  reply = answer("VALID", left, counts)
end
if hasRequestId then redis.call("SET", KEYS[3], cjson.encode(reply), "PX", REMEMBER_MS) end
return reply
