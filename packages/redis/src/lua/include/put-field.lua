-- Sets a field of a key, among the short ones or the long ones.
local function put(record, long, field, value, longest)
  local home, other = record, long
  if #value > longest then home, other = long, record end
  redis.call("HSET", home, field, value)
  redis.call("HDEL", other, field)
end

local function remove(record, long, field)
  redis.call("HDEL", record, field)
  redis.call("HDEL", long, field)
end
