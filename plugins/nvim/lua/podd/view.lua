-- Blocks as lines: { text, hl, level, alert, marks }, where level is the result of 'foldexpr',
-- alert the sequence of the alert on the line, and marks are its parts in other colours. Only headings begin in the first column, so
-- text from models, tools and files cannot imitate one.
local safe = require('podd.safe')
local arguments = require('podd.arguments')
local M = {}

-- How many of the last lines and bytes of live text are shown.
local LIVE_LINES, LIVE_BYTES = 200, 64 * 1024

local function head(text, hl)
  return { text, hl or 'PoddHead', '0' }
end

local function body(text)
  local out = {}
  for _, line in ipairs((safe.lines(text))) do
    out[#out + 1] = { '  ' .. line, nil, '0' }
  end
  return out
end

-- markdown is the text of an answer. grows says that it is not finished.
local function markdown(lines, grows)
  local out = {}
  for i, marks in ipairs(require('podd.markdown').marks(lines, grows)) do
    for _, m in ipairs(marks) do
      m[1], m[2] = m[1] + 2, m[2] + 2
    end
    out[i] = { '  ' .. lines[i], nil, '0', nil, marks }
  end
  return out
end

-- folded is a heading with folded lines below it.
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

-- last are the last lines of live text.
local function last(text)
  local lines = safe.lines(text:sub(-LIVE_BYTES))
  return vim.list_slice(lines, math.max(#lines - LIVE_LINES + 1, 1))
end

-- pictures are lines such as: [picture shot.png, PNG 800×600, 41 KB].
local function pictures(b)
  local out = {}
  for _, i in ipairs(b.images or {}) do
    local bytes = tonumber(i.bytes)
    local size = bytes < 1000 and ('%d bytes'):format(bytes) or ('%d KB'):format(math.floor((bytes + 500) / 1000))
    local name = i.name ~= '' and i.name or 'without a name'
    local format = i.media_type:gsub('^image/', ''):upper()
    out[#out + 1] = head(safe.line(('  [picture %s, %s %d×%d, %s]'):format(name, format, i.width, i.height, size)), 'PoddNote')
  end
  return out
end

local kinds = {}

function kinds.user(b)
  return with(head(b.state == 'queued' and 'you  …' or ('you  #%s'):format(b.seq)), body(b.text))
end

function kinds.answer(b)
  if b.state == 'live' then
    return with(head('assistant  …'), markdown(last(b.text), true))
  end
  return with(head(('assistant  #%s'):format(b.seq)), markdown((safe.lines(b.text))))
end

function kinds.thought(b)
  if b.state == 'live' then
    return folded('· reasoning  …', 'PoddNote', last(b.text))
  end
  return folded('· reasoning', 'PoddNote', (safe.lines(b.text)))
end

local function result(b)
  local failed = b.state == 'failed'
  local lines = safe.lines(b.text)
  local first = table.remove(lines, 1)
  if b.detail ~= '' then
    vim.list_extend(lines, (safe.lines(b.detail)))
  end
  if b.text == '' then
    first = safe.line(b.call.tool)
  end
  return folded((failed and '  ✗ ' or '  ✓ ') .. first, failed and 'PoddWarn' or 'PoddNote', lines)
end

function kinds.call(b)
  local tool = safe.line(b.call.tool)
  if b.state == 'writing' then
    return { head(('● %s  …'):format(tool), 'PoddTool') }
  end
  local out = folded(('● %s  %s'):format(tool, arguments.brief(b.call.arguments)), 'PoddTool', (arguments.lines(b.call.arguments)))
  if b.state == 'done' or b.state == 'failed' then
    vim.list_extend(out, result(b))
  elseif b.detail ~= '' then
    vim.list_extend(out, folded(('● %s running  …'):format(tool), 'PoddTool', last(b.detail)))
  end
  return out
end

-- The codes of notices of one line; other notices are system messages, by their origin.
local line_codes = {
  rewind = true, compaction = true, purged = true, withdrawn = true, cut = true, approved = true, denied = true, wing = true,
}

function kinds.notice(b)
  if line_codes[b.code] then
    return { head('· ' .. safe.line(b.text), 'PoddNote') }
  end
  local lines = safe.lines(b.text)
  local first = table.remove(lines, 1)
  return folded(('· %s: %s'):format(safe.line(b.code), first), 'PoddNote', lines)
end

function kinds.alert(b)
  local a = { level = b.alert.level, source = b.alert.source, text = b.text, count = b.alert.count }
  return M.matters(a) and { { '! ' .. M.alert(a), 'PoddWarn', '0', b.alert.seq ~= '0' and b.alert.seq or nil } } or {}
end

local outcomes = {
  finished = 'finished', cancelled = 'was cancelled', failed = 'failed', interrupted = 'was interrupted', limit = 'was stopped by a limit',
}

kinds['end'] = function(b)
  local t = b['end']
  local text = ('turn %s %s'):format(b.turn, outcomes[t.outcome] or 'ended')
  if b.text ~= '' then
    text = text .. ': ' .. safe.line(b.text)
  else
    text = ('%s: %d steps, %s tokens in (%s cached), %s out'):format(
      text, t.steps, t.usage.input_tokens, t.usage.cached_input_tokens, t.usage.output_tokens)
  end
  return { head(text, t.outcome == 'finished' and 'PoddNote' or 'PoddWarn'), { '', nil, '0' } }
end

-- block is a block as lines; an empty list for one that is not shown.
function M.block(b)
  local show = kinds[b.kind]
  return b.state ~= 'lost' and show and vim.list_extend(show(b), pictures(b)) or {}
end

-- asks says whether an alert is about a call that waits for a person.
function M.asks(a)
  return a.source == 'approval' or a.source == 'question'
end

-- matters says whether an alert is a warning or an error. A call that waits has its own notice.
function M.matters(a)
  return not M.asks(a) and a.level ~= 'ALERT_LEVEL_INFO' and a.level ~= 'info'
end

-- alert is an alert in one safe line.
function M.alert(a)
  local level = a.level:gsub('ALERT_LEVEL_', ''):lower()
  local text = ('%s: %s'):format(level, safe.line(a.text))
  local count = tonumber(a.count) or 1
  return count > 1 and ('%s (x%d)'):format(text, count) or text
end

-- local_time is an RFC 3339 time in UTC as the reader's clock shows it.
local function local_time(utc)
  local y, mon, d, h, min, s = utc:match('^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)')
  if not y then
    return safe.line(utc)
  end
  local t = os.time({ year = y, month = mon, day = d, hour = h, min = min, sec = s, isdst = false })
  return os.date('%Y-%m-%d %H:%M:%S', t + os.difftime(t, os.time(os.date('!*t', t))))
end

-- run appends the text of a file that a call executes, and returns how many characters of it are
-- hidden.
local function run(p, out)
  local hidden = 0
  local function add(indent, text)
    local lines, count = safe.lines(text)
    for _, line in ipairs(lines) do
      out[#out + 1] = indent .. line
    end
    hidden = hidden + count
  end
  add('    ', 'runs ' .. p.path)
  local text = {}
  for line in p.diff:gmatch('[^\n]+\n') do
    text[#text + 1] = line:match('^ (.*)')
  end
  add('      ', table.concat(text))
  if p.omitted ~= '' then
    add('    ! ', p.omitted)
  end
  return hidden
end

-- expiry appends when a call that waits expires.
local function expiry(a, out)
  if a.expires then
    out[#out + 1] = '  expires ' .. local_time(a.expires)
  end
  return out
end

-- approval is a call that waits, with exactly what would run or what it asks, as lines of text.
function M.approval(a)
  if a.form then
    local asks = { ('? call %s of pod %s waits for your answer: %s'):format(a.call_seq, safe.line(a.pod_name), safe.line(a.tool)) }
    return expiry(a, vim.list_extend(asks, require('podd.form').lines(a.form)))
  end
  local out = { ('? call %s of pod %s needs approval: %s'):format(a.call_seq, safe.line(a.pod_name), safe.line(a.tool)) }
  for _, line in ipairs((safe.lines(a.question))) do
    out[#out + 1] = '  ' .. line
  end
  local lines, count = arguments.lines(a.arguments)
  for _, line in ipairs(lines) do
    out[#out + 1] = '    ' .. line
  end
  for _, p in ipairs(a.previews or {}) do
    count = count + (p.runs and run(p, out) or 0)
  end
  if count > 0 then
    out[#out + 1] = ('  ! it contains %d hidden character%s, shown as escapes such as \\u202e'):format(count, count == 1 and '' or 's')
  end
  return expiry(a, out)
end

return M
