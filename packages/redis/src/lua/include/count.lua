-- Adds to sums of one hour within another step: everything stored is read and checked before anything is written.

-- The sums of subjects on their day. Their keys are the last ones up to KEYS[keysEnd], after the key of the days that have sums; their
-- members of that set are the last ones up to ARGV[argsEnd]. Nil if the stored sums are damaged.
local function readSums(subjects, keysEnd, argsEnd)
  local sums = { home = KEYS[keysEnd - subjects] }
  call("ZCARD", sums.home)
  for number = 1, subjects do
    local key, member = KEYS[keysEnd - subjects + number], ARGV[argsEnd - subjects + number]
    local stored = call("HGET", key, sub(member, 1, 9))
    if stored and string.gsub(stored, " %d+:[A-Z_]+=%d+", "") ~= "" then return nil end
    sums[number] = { home = key, member = member, text = stored or "", isNew = not stored }
  end
  return sums
end

-- Writes each with counts added, which are " <hour>:<code>=<count>".
local function addToSums(sums, counts)
  for _, each in ipairs(sums) do
    local text = each.text
    for name, added in string.gmatch(counts, "( %d+:[A-Z_]+=)(%d+)") do
      local _, stop = find(text, name, 1, true)
      local known = stop and match(text, "^%d+", stop + 1) or "0"
      local sum = format("%.0f", math.min(MAX, known + added))
      text = stop and sub(text, 1, stop) .. sum .. sub(text, stop + #known + 1) or text .. name .. sum
    end
    call("HSET", each.home, sub(each.member, 1, 9), text)
    if each.isNew then call("ZADD", sums.home, "0", each.member) end
  end
end
