#!lua flags=no-writes
--[[
  Tells which commands the user of the connection may not run. Redis looks at that when a script comes to the command: what the script
  wrote before would stay.

  KEYS[1]  none, since each primary of a cluster is asked
  ARGV[1]  a name that latchkey uses in Redis, ARGV[2] and those that follow: commands
  Returns  those of them that the user may not run on such a name
  Mirrors  nothing in core
]]
local refused, check = {}, redis.acl_check_cmd
for index = 2, #ARGV do
  local command, isKnown, isAllowed = ARGV[index], nil, nil
  if command == "ZUNIONSTORE" then
    -- Whole: Redis 7.0 looks for keys behind the last argument where their number is missing, and crashes.
    isKnown, isAllowed = pcall(check, command, ARGV[1], "1", ARGV[1])
  else
    isKnown, isAllowed = pcall(check, command, ARGV[1])
  end
  -- A server that is like Redis may not have the function: its user finds out later.
  if isKnown and not isAllowed then refused[#refused + 1] = command end
end
return refused
