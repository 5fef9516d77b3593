-- What a pod has not finished: blocks of live text, until their entries take their place.
local M = {}

-- How much of a block is kept, in bytes: its end.
local KEEP = 64 * 1024

function M.new()
  return { order = {}, blocks = {} }
end

function M.clear(l)
  l.order, l.blocks = {}, {}
end

local function add(l, d)
  local key = d.turn .. '/' .. d.block
  local b = l.blocks[key]
  if not b then
    b = { key = key, turn = d.turn, kind = d.kind, call_id = '', tool = '', text = '' }
    l.blocks[key] = b
    l.order[#l.order + 1] = key
  end
  b.call_id = d.call_id ~= '' and d.call_id or b.call_id
  b.tool = d.tool ~= '' and d.tool or b.tool
  b.text = b.text .. d.text
  if #b.text > 2 * KEEP then
    b.text = b.text:sub(-KEEP)
  end
end

-- in_flight replaces all.
function M.in_flight(l, f)
  M.clear(l)
  for _, d in ipairs(f.blocks) do
    add(l, d)
  end
end

-- delta adds a fragment. One that restarts the answer forgets the step.
function M.delta(l, d)
  if d.restarted then
    M.clear(l)
  else
    add(l, d)
  end
end

local function drop(l, over)
  for i, key in ipairs(l.order) do
    if over(l.blocks[key]) then
      table.remove(l.order, i)
      l.blocks[key] = nil
      return
    end
  end
end

-- entry drops the block that an entry takes the place of.
function M.entry(l, e)
  local item = e.item or {}
  local function kind(k, call_id)
    drop(l, function(b)
      return b.kind == k and b.turn == e.turn and (not call_id or b.call_id == call_id or b.call_id == '')
    end)
  end
  if e.turn_ended then
    M.clear(l)
  elseif item.assistant_message then
    kind('DELTA_KIND_TEXT')
  elseif item.reasoning then
    kind('DELTA_KIND_REASONING')
  elseif item.tool_call then
    kind('DELTA_KIND_TOOL_ARGUMENTS', item.tool_call.call_id)
  elseif item.tool_result then
    kind('DELTA_KIND_TOOL_OUTPUT', item.tool_result.call_id)
  end
end

return M
