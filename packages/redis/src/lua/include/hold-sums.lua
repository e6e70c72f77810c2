-- What counters know of the holds beside them is a word among their windows that no window is called: " =<name of the counters>/<sums>",
-- the sums as holdSumsText of core writes them. A name is a number that no other counters of the workspace had.
--
-- A hold is a field of KEYS[2], a hash: "<id>" is "<names of the counters that it is beside, with commas between, - for none> <holdText>".
-- Its ends are members of KEYS[3], a sorted set with score 0, one for each of these: "<name> <end, 16 digits><id>".
--
-- So that a hold finds its counters wherever they have gone to, KEYS[2] says where those are that have a name, " <name>": "k<id>" with the
-- key that they are of, "i<id>" with the identity, "w<field>" in KEYS[1], where shared ones are. Whoever moves counters writes that anew.
-- Where counters go, their name does, and a hold beside them has none there.
local function sumsOf(text)
  local name, sums = match(text, " =(%d+)/(%S*)")
  if not name then return nil, not find(text, " =", 1, true) end
  local nextEnd, open, uses, next, setBefore, raises, drops =
    match(sums, "^(%d+);(%d+);(%d+);(%d+);(%d+);([%d/,]*);([^;]*)$")
  if not (whole(nextEnd) and whole(open) and whole(uses) and whole(next) and whole(setBefore)) then return nil, false end
  return {
    name = name,
    nextEnd = whole(nextEnd),
    open = whole(open),
    uses = whole(uses),
    next = whole(next),
    setBefore = whole(setBefore),
    raises = raises,
    drops = drops,
  }, true
end
local function sumsText(sums)
  local numbers = format("%.0f;%.0f;%.0f;%.0f;%.0f;", sums.nextEnd, sums.open, sums.uses, sums.next, sums.setBefore)
  return " =" .. sums.name .. "/" .. numbers .. sums.raises .. ";" .. sums.drops
end
