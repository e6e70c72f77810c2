-- The beginning of the scripts of holds. KEYS[1] to [4] and ARGV[1] to [4] are as each of them says; then
-- KEYS[5]  to [20] keys, hashes; [21] identities, a hash; then the keys of the names in ARGV
-- ARGV[5]  number of names, then these: "p<window>" a window of the workspace, a string, "f<id>" memory of the end of a hold, a string.
-- The arguments of each script itself begin at ARGV[at].
local KEYS, ARGV, call = KEYS, ARGV, redis.call
local match, find, sub, byte, format = string.match, string.find, string.sub, string.byte, string.format
local gmatch, unpack = string.gmatch, unpack
-- include whole.lua
-- include record.lua
-- include hold-sums.lua
local FIRST_KEY, IDENTITIES, FIRST_NAMED = 5, 21, 22
local now, id, count = tonumber(ARGV[2]), ARGV[4], tonumber(ARGV[5])
local NOTHING, given, missing, isCorrupt, at = {}, {}, { "MORE" }, false, 6 + count
if ARGV[1] ~= "-" and (call("HGET", KEYS[1], "revision") or "0") ~= ARGV[1] then return { "STALE" } end
for number = 1, count do given[ARGV[5 + number]] = KEYS[FIRST_NAMED - 1 + number] end

-- The key of a name. A name without a key is noted as missing: nothing is written before the caller was asked for it.
local function keyOf(name)
  if not given[name] then missing[#missing + 1] = name end
  return given[name]
end
