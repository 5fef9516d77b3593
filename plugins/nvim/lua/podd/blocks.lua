-- A pod's transcript: a list of blocks, updated by the changes that the bridge sends.
-- docs/clients.md of podd describes their fields.
local M = {}

local function find(list, id)
  for i = #list, 1, -1 do
    if list[i].id == id then
      return i
    end
  end
end

-- change applies one change: what it drops, then what it puts. It has the growing part of a
-- block from byte `kept` on.
function M.change(list, c)
  for _, id in ipairs(c.drop or {}) do
    local i = find(list, id)
    if i then
      table.remove(list, i)
    end
  end
  for _, p in ipairs(c.put or {}) do
    local i, b = find(list, p.block.id), p.block
    local grows = b.kind == 'call' and 'detail' or 'text'
    if i then
      b[grows] = list[i][grows]:sub(1, p.kept) .. b[grows]
    end
    list[i or #list + 1] = b
  end
end

local live = { live = true, lost = true, writing = true }

-- restarted drops blocks that only the ended bridge knew.
function M.restarted(list)
  for i = #list, 1, -1 do
    if live[list[i].state] then
      table.remove(list, i)
    end
  end
end

-- settled removes the blocks at the start of the list that no longer change. A queued submit
-- does not block them: it moves to the end.
function M.settled(list)
  local done, rest, open = {}, {}, false
  for _, b in ipairs(list) do
    if not open and (b.state == 'done' or b.state == 'failed') then
      done[#done + 1] = b
    else
      rest[#rest + 1] = b
      open = open or b.state ~= 'queued'
    end
  end
  return done, rest
end

return M
