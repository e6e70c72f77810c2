-- A key is a hash of its own: v "<id> <version>", l the link, u its counters, or s the id of those that it shares, and the body
-- in pieces 0, 1 …, or b where it is long. Short hashes of short values are small.
-- A record of another kind is text in the hash of its kind: "<version> <link> <mark>", then a line feed and the body, or
-- "<id> b" for a long one. Its counters are "<id> u" where the mark says OWN, and where it begins with SHARED those of the
-- id that follows.
-- Counters: "<uses left or -> <refilledAt> <lastRefillAt or -> <holders>", then " <window>=<startedAt>:<used>" for each window.
local sub = string.sub
local OWN, SHARED = "+", string.byte("@")

-- Version, link and mark of such a text, and the body where it is there. A version that is none equals no other.
local function unpackHead(text)
  local head, body = match(text, "^([^\n]*)\n(.*)$")
  local version, link, mark = match(head or text, "^(%S*) (%S*) (%S*)$")
  return version, link or "", mark or "", body
end
