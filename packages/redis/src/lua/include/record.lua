-- A record is in the hash of its kind, a key in one of 16. Its field "<id>" is "<version> <link>", then a space and its counters if it
-- has any, or "@" and the field of KEYS[1], the hash of the workspace, that has its shared counters. The body follows a line feed, or is
-- "<id> b" if it is long or there are counters. "<id> t" is the latest use.
-- Counters: "<uses left or -> <refilledAt> <lastRefillAt or -> <holders>", then " <window>=<startedAt>:<used>" for each window;
-- shared ones come after two spaces, as if version and link were empty.
-- Returns which of the hashes in KEYS, count of them from first on, a record is in. Its claims are spread in the same way.
local function homeOf(id, first, count)
  return KEYS[first + byte(id, -1) % count]
end
