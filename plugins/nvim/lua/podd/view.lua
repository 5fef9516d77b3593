-- Entries and what is unfinished, as lines: { text, hl, level }, where level is what
-- 'foldexpr' gives. A heading begins at the first column; text of models, tools and files
-- never does, so that none can pass for a heading.
local safe = require('podd.safe')
local arguments = require('podd.arguments')
local M = {}

-- How many of the last lines of live text are shown.
local LIVE_LINES = 200

local function head(text, hl)
  return { text, hl or 'PoddHead', '0' }
end

local function body(text, indent)
  local out = {}
  for _, line in ipairs((safe.lines(text))) do
    out[#out + 1] = { (indent or '  ') .. line, nil, '0' }
  end
  return out
end

-- folded is a heading with lines that are folded away below it.
local function folded(text, hl, lines)
  if #lines == 0 then
    return { head(text, hl) }
  end
  local out = { { text, hl, '>1' } }
  for _, line in ipairs(lines) do
    out[#out + 1] = { '    ' .. line, nil, '1' }
  end
  return out
end

local function with(first, rest)
  local out = { first }
  vim.list_extend(out, rest)
  return out
end

local function note(text)
  return { head('· ' .. safe.line(text), 'PoddNote') }
end

local items = {}

function items.user_message(m, seq)
  return with(head(('you  #%s'):format(seq)), body(m.text))
end

function items.assistant_message(m, seq)
  if m.text == '' then
    return {}
  end
  return with(head(('assistant  #%s'):format(seq)), body(m.text))
end

function items.system_message(m)
  local lines = safe.lines(m.text)
  local first = table.remove(lines, 1)
  return folded(('· %s: %s'):format(safe.line(m.origin), first), 'PoddNote', lines)
end

function items.reasoning(m)
  if m.text == '' then
    return {}
  end
  return folded('· reasoning', 'PoddNote', (safe.lines(m.text)))
end

function items.tool_call(m)
  return folded(('● %s  %s'):format(safe.line(m.name), arguments.brief(m.arguments)), 'PoddTool', (arguments.lines(m.arguments)))
end

function items.tool_result(m)
  local summary = safe.lines(m.summary)
  local lines = {}
  for i = 2, #summary do
    lines[#lines + 1] = summary[i]
  end
  if m.content ~= '' then
    vim.list_extend(lines, (safe.lines(m.content)))
  end
  local mark = m.is_error and '  ✗ ' or '  ✓ '
  return folded(mark .. (m.summary ~= '' and summary[1] or safe.line(m.tool)), m.is_error and 'PoddWarn' or 'PoddNote', lines)
end

local outcomes = {
  OUTCOME_FINISHED = 'finished',
  OUTCOME_CANCELLED = 'was cancelled',
  OUTCOME_FAILED = 'failed',
  OUTCOME_INTERRUPTED = 'was interrupted',
  OUTCOME_LIMIT = 'was stopped by a limit',
}

local function turn_end(e)
  local t = e.turn_ended
  local text = ('turn %s %s'):format(e.turn, outcomes[t.outcome] or safe.line(t.outcome))
  if t.cause ~= '' then
    text = text .. ': ' .. safe.line(t.cause)
  elseif t.usage then
    text = ('%s: %d steps, %s tokens in (%s cached), %s out'):format(
      text, t.steps, t.usage.input_tokens, t.usage.cached_input_tokens, t.usage.output_tokens)
  end
  return { head(text, t.outcome == 'OUTCOME_FINISHED' and 'PoddNote' or 'PoddWarn'), { '', nil, '0' } }
end

-- entry is an entry as lines; none for what a reader need not see.
function M.entry(e)
  if e.item then
    for kind, show in pairs(items) do
      if e.item[kind] then
        return show(e.item[kind], e.seq)
      end
    end
  elseif e.turn_ended then
    return turn_end(e)
  elseif e.alert then
    -- Others say what the entries show anyway: that a turn ended.
    return M.matters(e.alert) and { head('! ' .. M.alert(e.alert), 'PoddWarn') } or {}
  elseif e.approval_resolved then
    local r = e.approval_resolved
    local text = r.approved and 'approved' or 'denied'
    if r.by ~= '' then
      text = text .. ' by ' .. r.by
    end
    return note(r.reason ~= '' and text .. ': ' .. r.reason or text)
  elseif e.compaction then
    return note(('compacted: a summary stands for what came before #%s'):format(e.compaction.up_to_seq))
  elseif e.prune then
    return note(('%d results are sent as their summaries from now on'):format(#e.prune.seqs))
  elseif e.rewind then
    return note(('rewound to #%s'):format(e.rewind.to_seq))
  elseif e.purged then
    return note('the log begins here: older entries were removed')
  elseif e.withdrawn then
    return note('a waiting submit was taken back')
  elseif e.submitted and e.submitted.mode == 'SUBMIT_MODE_STEER' then
    return note('steer: ' .. e.submitted.text)
  end
  return {}
end

-- matters says whether somebody has to see an alert: it warns, or is an error.
function M.matters(a)
  return a.level ~= 'ALERT_LEVEL_INFO'
end

-- alert is an alert in one safe line.
function M.alert(a)
  local level = a.level:gsub('ALERT_LEVEL_', ''):lower()
  local text = ('%s: %s'):format(level, safe.line(a.text))
  local count = tonumber(a.count) or 1
  return count > 1 and ('%s (x%d)'):format(text, count) or text
end

-- approval is a call that waits, with all that would run, as lines of text.
function M.approval(a)
  local out = { ('? call %s of pod %s asks: %s'):format(a.call_seq, safe.line(a.pod_name), safe.line(a.tool)) }
  for _, line in ipairs((safe.lines(a.question))) do
    out[#out + 1] = '  ' .. line
  end
  local lines, count = arguments.lines(a.arguments)
  for _, line in ipairs(lines) do
    out[#out + 1] = '    ' .. line
  end
  if count > 0 then
    out[#out + 1] = ('  ! it has %d hidden characters, shown as escapes such as \\u202e'):format(count)
  end
  if a.expires then
    out[#out + 1] = '  denied unless answered by ' .. safe.line(a.expires:gsub('T', ' '):gsub('%.%d+', ''):gsub('Z$', ' UTC'))
  end
  return out
end

-- live is an unfinished block as lines.
function M.live(b)
  local lines = safe.lines(b.text)
  if #lines > LIVE_LINES then
    lines = vim.list_slice(lines, #lines - LIVE_LINES + 1)
  end
  if b.kind == 'DELTA_KIND_TEXT' then
    return with(head('assistant  …'), vim.tbl_map(function(l) return { '  ' .. l, nil, '0' } end, lines))
  elseif b.kind == 'DELTA_KIND_REASONING' then
    return folded('· reasoning  …', 'PoddNote', lines)
  elseif b.kind == 'DELTA_KIND_TOOL_OUTPUT' then
    return folded(('● %s runs  …'):format(safe.line(b.tool)), 'PoddTool', lines)
  end
  return { head(('● %s  …'):format(safe.line(b.tool)), 'PoddTool') }
end

return M
