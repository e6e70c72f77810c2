#!lua flags=no-writes
--[[
  Tells which commands the user of the connection may not run. Redis checks that only when a script reaches the command: what the script
  wrote before would stay.

  KEYS[1]  none, since each primary of a cluster is asked
  ARGV[1]  a name that latchkey uses in Redis, ARGV[2] and further: commands, each with the arguments behind its key
  Returns  the names of the commands that the user may not run on such a name
  Mirrors  nothing in core
]]
local refused = {}
for index = 2, #ARGV do
  local words = {}
  for word in string.gmatch(ARGV[index], "%S+") do words[#words + 1] = word == "@" and ARGV[1] or word end
  local command = table.remove(words, 1)
  -- With all of its arguments: Redis 7.0 crashes if those are missing that say how many keys there are.
  local isKnown, isAllowed = pcall(redis.acl_check_cmd, command, ARGV[1], unpack(words))
  -- A server similar to Redis may not have the function: its user finds out later.
  if isKnown and not isAllowed then refused[#refused + 1] = command end
end
return refused
