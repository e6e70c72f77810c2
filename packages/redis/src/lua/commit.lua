#!lua
--[[
  Carries out a change of a workspace: all of it or nothing.

  KEYS[1]  revision of the workspace, a string
  KEYS[2]  addresses of keys by id, a hash, with "<id> t" and, for counters that keys share, "<id> u"
  then     what the letters name
  ARGV[1]  letters, each followed in ARGV by what it names; records are known by their number from then on, claims and
           counters have one of their own:
           "k" a key, KEYS: its record; its id, its address; "K" the same, with the address that it gets if it is new; "r" a record of another kind, KEYS: the hash
           of its kind; its id; "e" expected version of the record before, "*" for any, "-" for none;
           "l" a name to release, KEYS: hash of claims; value, id; "L" the same of a key, KEYS: record at the address that the
           name gives, hash of claims; "c" a claim, KEYS: hash of claims, hash of the kind; value, id; "C" a claim of a key, KEYS
           as for "L"; value, number of the record; "u" a change of counters: number of the record, change of uses as
           change-usage.lua takes it, windows that stay, each between spaces, or "*", windows that go, the same, or "-";
           "p" a put: number of the record, version and where there is one a space and the link, body; "n" the same, then
           "<uses left or -> <refilledAt> <lastRefillAt or ->" of its new counters; "s" the same, then number of the record
           whose counters it shares; "d" a deletion: number of the record; "x" out of a list, "z" into it, KEYS: a sorted
           set; member; "w" a window to forget, KEYS: a string; "v" raise the revision
  Returns  {"OK", counters "<uses left or -> <refilledAt> <lastRefillAt or ->" after each change …}, {"STALE", index},
           {"TAKEN", index}, {"REFUSED", index, kind, uses left or "-"}, {"CORRUPT"}; or, to be asked again with other addresses,
           {"MOVED"} where a key has another address, {"OCCUPIED", id} where the address of a new key is taken
  Mirrors  KeyStore.commit and changeUsage in packages/core/src/store
]]
-- include commit.lua
