#!lua flags=allow-oom
--[[
  The next ids of a list, and its size.

  KEYS[1]  revision of the workspace, a string
  KEYS[2]  list whose size is wanted, a sorted set of ids, each with score 0
  KEYS[3]  list that is read, the same or one of "<tag> <id>"
  KEYS[4]  addresses of keys by id, a hash; only for a list of keys
  ARGV[1]  "a" for ascending, "d" for descending
  ARGV[2]  where it begins, ARGV[3] where it ends, as ZRANGEBYLEX or ZREVRANGEBYLEX takes them
  ARGV[4]  most ids to answer, 1 to 1001
  Returns  {revision, size, {id …}, for a list of keys {address or false …}}
  Mirrors  KeyStore.page in packages/core/src/store/key-store.ts, its first step
]]
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local command = ARGV[1] == "d" and "ZREVRANGEBYLEX" or "ZRANGEBYLEX"
local ids = call(command, KEYS[3], ARGV[2], ARGV[3], "LIMIT", "0", ARGV[4])
local addresses = KEYS[4] and #ids > 0 and call("HMGET", KEYS[4], unpack(ids)) or {}
return { call("GET", KEYS[1]) or "0", call("ZCARD", KEYS[2]), ids, addresses }
