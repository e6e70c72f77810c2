#!lua flags=allow-oom
--[[
  Entries of one list of the audit log, the latest first.

  KEYS[1]  lists of the audit log: a sorted set of "* <id>", "k <keyId> <id>", "i <identityId> <id>" and "a <actor> <id>",
           each with score 0
  KEYS[2]  audit log by id, a hash: ids of key and identity, the actor and the rest, each on a line
  ARGV[1]  where the page begins, as ZREVRANGEBYLEX takes it
  ARGV[2]  where the list ends
  ARGV[3]  most items to answer, 1 to 101
  Returns  {id, record, id, record …}
  Mirrors  KeyStore.listChanges in packages/core/src/store.ts
]]
local reply = {}
for _, member in ipairs(redis.call("ZREVRANGEBYLEX", KEYS[1], ARGV[1], ARGV[2], "LIMIT", "0", ARGV[3])) do
  local id = string.match(member, "([^ ]*)$")
  reply[#reply + 1] = id
  reply[#reply + 1] = redis.call("HGET", KEYS[2], id) or ""
end
return reply
