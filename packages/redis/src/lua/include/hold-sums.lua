-- What counters know of their holds is a word among their windows, which no window can be named: " =<name of the counters>/<sums>", with
-- the sums as holdSumsText of core writes them. A name is a number that no other counters of the workspace ever had.
--
-- A hold is a field of KEYS[2], a hash: "<id>" is "<names of the counters that it is beside, separated by commas, - for none> <holdText>".
-- Its ends are members of KEYS[3], a sorted set with score 0, one for each of these counters: "<name> <end, 16 digits><id>".
--
-- A hold finds its counters wherever they have moved: the field " <name>" of KEYS[2] is their place, "k<id>" with their key, "i<id>" with
-- their identity, "w<field>" in KEYS[1] if they are shared. Code that moves counters updates the field. When counters are deleted, so is
-- their name, and a hold beside them has "-" instead.
--
-- Returns the sums in a text of counters, nil for none; whether they are valid; and the text without them.
local function sumsOf(text)
  local before, stop = find(text, " =", 1, true)
  if not before then return nil, true, text end
  local name, nextEnd, open, uses, next, setBefore, raises, drops, last =
    match(text, "^(%d+)/(%d+);(%d+);(%d+);(%d+);(%d+);([%d/,]*);([^; ]*)()", stop + 1)
  nextEnd, open, uses, next, setBefore = tonumber(nextEnd), tonumber(open), tonumber(uses), tonumber(next), tonumber(setBefore)
  if not name or math.max(nextEnd, open, uses, next, setBefore) > MAX then return nil, false end
  local sums =
    { name = name, nextEnd = nextEnd, open = open, uses = uses, next = next, setBefore = setBefore, raises = raises, drops = drops }
  return sums, true, sub(text, 1, before - 1) .. sub(text, last)
end
local function sumsText(sums)
  local numbers = format("%.0f;%.0f;%.0f;%.0f;%.0f;", sums.nextEnd, sums.open, sums.uses, sums.next, sums.setBefore)
  return " =" .. sums.name .. "/" .. numbers .. sums.raises .. ";" .. sums.drops
end
