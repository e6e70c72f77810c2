#!lua flags=allow-oom
--[[
  The next ids of a list, and its size.

  KEYS[1]  workspace, a hash: "revision"
  KEYS[2]  list whose size is wanted, a sorted set of ids, each with score 0
  KEYS[3]  list to read, the same one or a set of "<tag> <id>"
  ARGV[1]  "a" for ascending, "d" for descending
  ARGV[2]  where it begins, ARGV[3] where it ends, in the syntax of ZRANGEBYLEX or ZREVRANGEBYLEX
  ARGV[4]  most ids to return, 1 to 1001
  Returns  {revision, size, {id …}}
  Mirrors  KeyStore.page in packages/core/src/store/key-store.ts, its first step
]]
local command = ARGV[1] == "d" and "ZREVRANGEBYLEX" or "ZRANGEBYLEX"
local ids = redis.call(command, KEYS[3], ARGV[2], ARGV[3], "LIMIT", "0", ARGV[4])
return { redis.call("HGET", KEYS[1], "revision") or "0", redis.call("ZCARD", KEYS[2]), ids }
