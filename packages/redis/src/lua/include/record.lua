-- A record lies in the hash of its kind, a key in one of 16: "<id>" is "<version> <link>", a line feed and the
-- body, which is "<id> b" instead where it is long; "<id> t" its latest use; "<id> u" its counters, or "@" and the field of
-- KEYS[1], the hash of the workspace, in which those are that it shares.
-- Counters: "<uses left or -> <refilledAt> <lastRefillAt or -> <holders>", then " <window>=<startedAt>:<used>" for each window.
local SHARED = string.byte("@")

-- Of the hashes in KEYS, count of them from first on, the one that a record is in. Its names are spread in the same way.
local function homeOf(id, first, count)
  return KEYS[first + byte(id, -1) % count]
end
