#!lua
--[[
  Sets fields of an API and raises its version and the epoch of its workspace, if the version is the expected one.

  KEYS[1]  APIs by id, a hash: version, protection, name, addresses and the rest, each on a line
  KEYS[2]  workspace, a hash
  KEYS[3]  audit log by id, a hash, KEYS[4] its lists, a sorted set
  ARGV[1]  id of the API
  ARGV[2]  expected version
  ARGV[3]  protection, ARGV[4] name, ARGV[5] addresses, each opaque here, or "" to leave it
  then     entries of the log
  Returns  {"NOT_FOUND"}, {"STALE"}, {"CORRUPT"} or {"UPDATED"}
  Mirrors  KeyStore.updateApi in packages/core/src/store.ts
]]
-- include whole.lua
-- include raise-epoch.lua
-- include write-log.lua
local stored = redis.call("HGET", KEYS[1], ARGV[1])
if not stored then return { "NOT_FOUND" } end
local line = "([^\n]*)"
local version, protection, name, addresses, rest =
  string.match(stored, "^(%d+)\n" .. line .. "\n" .. line .. "\n" .. line .. "\n" .. line .. "$")
if not whole(version) then return { "CORRUPT" } end
if version ~= ARGV[2] then return { "STALE" } end
local raised = raisedEpoch(KEYS[2])
if not raised then return { "CORRUPT" } end
checkLog(KEYS[3], KEYS[4])

if ARGV[3] ~= "" then protection = ARGV[3] end
if ARGV[4] ~= "" then name = ARGV[4] end
if ARGV[5] ~= "" then addresses = ARGV[5] end
local record = { digits(tonumber(version) + 1), protection, name, addresses, rest }
redis.call("HSET", KEYS[1], ARGV[1], table.concat(record, "\n"))
redis.call("HSET", KEYS[2], "epoch", raised)
writeLog(6, KEYS[3], KEYS[4])
return { "UPDATED" }
