-- Looks references up: a count, -1 for none, then for each "id" or "name", its text, and id and record to create it with
-- or "". Nothing is written. ids[n] is what the n-th stands for; ends is where the references end.
local function resolve(at, byId, byName)
  local count = math.max(0, tonumber(ARGV[at]))
  local found = { count = count, ends = at + 4 * count, ids = {}, new = {}, isNew = {}, missing = {} }
  local newByName = {}
  if count > 0 then
    -- Only to find out that each is what it has to be, before anything is written.
    redis.call("HEXISTS", byId, "")
    redis.call("HEXISTS", byName, "")
  end
  for number = 1, count do
    local first = at + (number - 1) * 4
    local text, newId, record = ARGV[first + 2], ARGV[first + 3], ARGV[first + 4]
    local id
    if ARGV[first + 1] == "id" then
      if redis.call("HEXISTS", byId, text) == 1 then id = text end
    else
      id = redis.call("HGET", byName, text)
      if not id and newId ~= "" then
        id = newByName[text] or newId
        if not newByName[text] then
          found.new[#found.new + 1] = { id = id, name = text, record = record }
          found.isNew[id] = true
        end
        newByName[text] = id
      end
    end
    if id then found.ids[number] = id else found.missing[#found.missing + 1] = digits(number - 1) end
  end
  return found
end

-- Ids that the references stand for, each once, separated by spaces.
local function allIds(found)
  local ids, seen = {}, {}
  for number = 1, found.count do
    local id = found.ids[number]
    if id and not seen[id] then
      seen[id] = true
      ids[#ids + 1] = id
    end
  end
  return table.concat(ids, " ")
end

-- Writes what is to be created, and adds the ids to `created`, a list that is also a set.
local function create(found, byId, byName, created)
  for _, new in ipairs(found.new) do
    redis.call("HSET", byId, new.id, new.record)
    redis.call("HSET", byName, new.name, new.id)
    if created and not created[new.id] then
      created[new.id] = true
      created[#created + 1] = new.id
    end
  end
end
