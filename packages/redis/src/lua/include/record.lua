-- A record lies in the hash of its kind, a key in one of 16. Its field "<id>" is "<version> <link>", then a space and its counters
-- where it has some, or "@" and the field of KEYS[1], the hash of the workspace, in which those are that it shares. The body
-- follows a line feed, or is "<id> b" where it is long or there are counters. "<id> t" is the latest use.
-- Counters: "<uses left or -> <refilledAt> <lastRefillAt or -> <holders>", then " <window>=<startedAt>:<used>" for each window;
-- shared ones stand behind two spaces, as if version and link were empty.
-- Of the hashes in KEYS, count of them from first on, the one that a record is in. Its names are spread in the same way.
local function homeOf(id, first, count)
  return KEYS[first + byte(id, -1) % count]
end
