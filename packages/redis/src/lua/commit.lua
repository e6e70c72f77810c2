#!lua
--[[
  Carries out a change of a workspace: all of it or nothing.

  KEYS[1]  revision of the workspace, a string
  KEYS[2]  addresses of keys by id, a hash, with "<id> t" and, for counters that keys share, "<id> u"
  then     what the letters name
  ARGV[1]  letters of what may refuse, ARGV[2] letters of what is written; then for each letter what it takes. Records are known
           by their number from then on.
           "k" a key, KEYS: its record; its id, its address; "K" the same, with the address that it gets if it is new;
           "r" a record of another kind, KEYS: the hash of its kind; its id;
           "e" expected version of the record before, "*" for any, "-" for none;
           "l" a name to release, KEYS: hash of claims; value, id; "L" the same of a key, KEYS: record at the address that
           the name gives, hash of claims; "c" a claim, KEYS: hash of claims, hash of the kind; value, id; "C" a claim of a
           key, KEYS as for "L"; value, number of the record;
           "u" a change of counters: number of the record, change of uses as change-usage.lua takes it, windows that stay,
           each between spaces, or "*" for all, windows that go;
           "p" a put: number of the record, version and where there is one a space and the link, body; "n" the same with new
           counters: "<uses left or -> <refilledAt> <lastRefillAt or ->"; "s" the same with the counters of another: its
           number; "d" a deletion: number of the record; "x" out of a list, "z" into it, KEYS: a sorted set; member;
           "w" a window to forget, KEYS: a string; "v" raise the revision
  Returns  {"OK", uses after each change of counters …}, {"STALE", index}, {"TAKEN", index}, {"REFUSED", index, kind, uses left
           or "-"}, {"CORRUPT"}, or {"MOVED"} where it has to be asked for again, since a key has another address
  Mirrors  KeyStore.commit and changeUsage in packages/core/src/store
]]
-- include commit.lua
