#!lua flags=no-writes
--[[
  Tells which commands the user of the connection may not run, and which the server does not have under their name (rename-command).
  Redis checks that only when a script reaches the command: what the script wrote before would stay.

  KEYS[1]  none, since each primary of a cluster is asked
  ARGV[1]  a name that latchkey uses in Redis, ARGV[2] and further: commands, each with the arguments behind its key
  Returns  {refused, missing}: names of commands that the user may not run on such a name, and that the server does not have
  Mirrors  nothing in core
]]
local refused, missing = {}, {}
-- A server similar to Redis may not have the function: its user finds out later.
if type(redis.acl_check_cmd) ~= "function" then return { refused, missing } end
for index = 2, #ARGV do
  local words = {}
  for word in string.gmatch(ARGV[index], "%S+") do words[#words + 1] = word == "@" and ARGV[1] or word end
  local command = table.remove(words, 1)
  -- With all of its arguments: Redis 7.0 crashes if those are missing that say how many keys there are.
  local isKnown, isAllowed = pcall(redis.acl_check_cmd, command, ARGV[1], unpack(words))
  if not isKnown then missing[#missing + 1] = command end
  if isKnown and not isAllowed then refused[#refused + 1] = command end
end
return { refused, missing }
