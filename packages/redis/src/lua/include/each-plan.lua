-- Runs carryOut, with the first of its keys and of its arguments, for one plan after the other, and ends the script with the replies.
-- One string: a list of strings costs Redis a tenth as much as everything else.
local replies, nextKey, at = nil, 2, 1
repeat
  -- An error of one plan does not affect the others.
  local isDone, reply = pcall(carryOut, nextKey, at)
  if not isDone then reply = "ERROR " .. reply end
  replies = replies and replies .. "\0" .. reply or reply
  nextKey, at = nextKey + ARGV[at], at + ARGV[at + 1]
until not ARGV[at]
return replies
