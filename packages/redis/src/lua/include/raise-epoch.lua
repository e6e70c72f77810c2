-- The epoch that a workspace has after one more change; nil where the stored one is damaged.
local function raisedEpoch(workspace)
  local epoch = whole(redis.call("HGET", workspace, "epoch") or "0")
  return epoch and epoch < MAX and digits(epoch + 1) or nil
end
