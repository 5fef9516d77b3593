-- Stream buffers: podd://NAME shows and follows a pod's log, and answers its questions. The
-- buffer has two parts: finished blocks, which are only appended, and a tail, which is
-- redrawn: the other blocks, the calls that wait, and a line with the pod's state.
local bridge = require('podd.bridge')
local view = require('podd.view')
local blocks = require('podd.blocks')
local M = {}

-- How long changes are collected before they are drawn, in milliseconds.
local DRAW_PAUSE = 30

local marks = vim.api.nvim_create_namespace('podd')
local views, current = {}, nil

local function now()
  return vim.loop.hrtime() / 1e6
end

-- put writes lines starting at a line, with their colours, folds and alerts.
local function put(v, from, lines)
  local text = {}
  for i, l in ipairs(lines) do
    text[i] = l[1]
    v.levels[from + i], v.alerts[from + i] = l[3] or '0', l[4] or false
  end
  for i = from + #lines + 1, #v.levels do
    v.levels[i], v.alerts[i] = nil, nil
  end
  vim.api.nvim_buf_clear_namespace(v.buf, marks, from, -1)
  vim.bo[v.buf].modifiable = true
  vim.api.nvim_buf_set_lines(v.buf, from, -1, false, text)
  vim.bo[v.buf].modifiable = false
  vim.bo[v.buf].modified = false
  for i, l in ipairs(lines) do
    if l[2] and l[1] ~= '' then
      vim.api.nvim_buf_set_extmark(v.buf, marks, from + i - 1, 0, { end_col = #l[1], hl_group = l[2] })
    end
    for _, m in ipairs(l[5] or {}) do
      vim.api.nvim_buf_set_extmark(v.buf, marks, from + i - 1, m[1], { end_col = m[2], hl_group = m[3] })
    end
  end
end

local words = {
  POD_STATE_IDLE = 'idle', POD_STATE_RUNNING = 'running', POD_STATE_WAITING = 'waiting', POD_STATE_PAUSED = 'paused',
  POD_STATE_RESUMING = 'resuming', POD_STATE_INTERRUPTED = 'interrupted', POD_STATE_QUARANTINED = 'quarantined',
}

-- summary is the pod's state, in a few words.
-- waits counts the calls that wait, by what for.
local function waits(list)
  local questions, out = #vim.tbl_filter(function(a) return a.form end, list), {}
  for _, c in ipairs({ { #list - questions, 'approval' }, { questions, 'question' } }) do
    if c[1] > 0 then
      out[#out + 1] = ('%d %s%s'):format(c[1], c[2], c[1] == 1 and '' or 's')
    end
  end
  return table.concat(out, ', ')
end

local function summary(v)
  if v.ended then
    return require('podd.safe').line(v.ended)
  elseif not bridge.connection().up then
    return 'lost the connection to podd; retrying'
  elseif not v.state then
    return 'connecting'
  end
  local text = words[v.state.pod.state] or 'unknown'
  local calls = #v.state.approvals
  if calls > 0 then
    text = ('%s (%s)'):format(text == 'waiting' and 'asks' or text, waits(v.state.approvals))
  elseif v.state.pod.queued > 0 then
    text = ('%s (%d queued)'):format(text, v.state.pod.queued)
  end
  return require('podd.submit').plans(v.pod, v.state.pod.spec.plan) and text .. ', prompts plan' or text
end

local function tail(v)
  local out = {}
  v.calls = {}
  for _, queued in ipairs({ false, true }) do
    for _, b in ipairs(v.blocks) do
      if (b.state == 'queued') == queued then
        vim.list_extend(out, view.block(b))
      end
    end
  end
  for _, a in ipairs(v.state and v.state.approvals or {}) do
    local from = #out + 1
    for i, line in ipairs(view.approval(a)) do
      out[#out + 1] = { line, i == 1 and 'PoddAsk' or nil, '0' }
    end
    out[#out + 1] = { require('podd.ask').hint(a), 'PoddAsk', '0' }
    v.calls[#v.calls + 1] = { from = v.settled + from, to = v.settled + #out, approval = a }
  end
  out[#out + 1] = { ('[%s]'):format(summary(v)), 'PoddNote', '0' }
  return out
end

local function draw(v)
  v.drawing = false
  if not vim.api.nvim_buf_is_valid(v.buf) then
    return
  end
  local following = {}
  local last = vim.api.nvim_buf_line_count(v.buf)
  for _, win in ipairs(vim.fn.win_findbuf(v.buf)) do
    following[win] = vim.api.nvim_win_get_cursor(win)[1] == last or nil
  end
  local from, lines, done = v.settled, {}, nil
  done, v.blocks = blocks.settled(v.blocks)
  for _, b in ipairs(done) do
    vim.list_extend(lines, view.block(b))
  end
  v.settled = from + #lines
  put(v, from, vim.list_extend(lines, tail(v)))
  last = vim.api.nvim_buf_line_count(v.buf)
  for win in pairs(following) do
    vim.api.nvim_win_set_cursor(win, { last, 0 })
  end
  vim.cmd('redrawstatus!')
end

local function later(v)
  if not v.drawing then
    v.drawing = true
    vim.defer_fn(function() draw(v) end, DRAW_PAUSE)
  end
end

-- keys identifies the calls that wait, to see whether they changed.
local function keys(s)
  return table.concat(vim.tbl_map(function(a) return a.call_seq .. a.digest end, s and s.approvals or {}), ' ')
end

-- ended tells the end of a turn that this Neovim has seen running.
local function ended(v, list)
  for _, p in ipairs(list) do
    local b = p.block
    if b.kind == 'end' and v.turn == b.turn then
      v.turn, v.over = nil, b.turn
      if b['end'].outcome == 'finished' then
        require('podd.notice').finished(v.pod, v.id, b.turn, now() - v.began)
      end
    end
  end
end

local function state(v, s)
  if s.pod.state ~= 'POD_STATE_IDLE' and v.over ~= s.pod.turn and v.turn ~= s.pod.turn then
    v.turn, v.began = s.pod.turn, now()
  end
  if keys(v.state) ~= keys(s) then
    v.changed = now()
    require('podd.notice').look()
  end
  v.state = s
end

local attach

local function handle(v, m)
  if m.blocks then
    blocks.change(v.blocks, m.blocks)
    ended(v, m.blocks.put or {})
  elseif m.restarted then
    blocks.restarted(v.blocks)
  elseif m.state then
    state(v, m.state)
  elseif m['end'] then
    local err = m['end'].error
    if err and err.reason == 'PURGED' then
      return attach(v, tonumber(err.meta.first_seq) - 1)
    end
    v.ended = err and err.message or 'the stream ended'
  end
  later(v)
end

attach = function(v, after)
  v.stream = bridge.stream('Blocks', { pod = v.pod, after_seq = tostring(after), follow = true, deltas = true }, function(m)
    handle(v, m)
  end)
end

-- options sets the options of a window that shows a stream.
local function options()
  vim.cmd([[setlocal foldmethod=expr foldexpr=v:lua.require'podd.stream'.fold() foldlevel=0 foldminlines=1 foldenable]])
  vim.cmd([[setlocal foldtext=v:lua.require'podd.stream'.foldtext() wrap linebreak nolist nonumber norelativenumber]])
  -- A long line continues below itself, not in the column of headings.
  vim.cmd([[setlocal breakindent breakindentopt=shift:2 fillchars+=fold:\ ]])
end

-- fold is 'foldexpr'. It depends on the kind of a line, never on its text.
function M.fold()
  local v = views[vim.api.nvim_get_current_buf()]
  return v and v.levels[vim.v.lnum] or '0'
end

-- foldtext is 'foldtext'.
function M.foldtext()
  local n = vim.v.foldend - vim.v.foldstart
  return ('%s  (+%d line%s)'):format(vim.fn.getline(vim.v.foldstart), n, n == 1 and '' or 's')
end

-- call_here is the call that waits under the cursor.
function M.call_here(buf, line)
  for _, c in ipairs(views[buf] and views[buf].calls or {}) do
    if line >= c.from and line <= c.to then
      return c.approval
    end
  end
end

local function answer(buf, how)
  local v = views[buf]
  local a = M.call_here(buf, vim.api.nvim_win_get_cursor(0)[1])
  if not a then
    return require('podd').say('no call under the cursor waits for you')
  elseif now() - (v.changed or 0) < require('podd.ask').LOOK then
    return require('podd').say('the questions have just changed: read them again')
  end
  require('podd.ask').answer(a, how)
end

local function diff(buf)
  local a = M.call_here(buf, vim.api.nvim_win_get_cursor(0)[1])
  if not a then
    return require('podd').say('no call under the cursor waits for you')
  end
  require('podd.diff').open(a)
end

local function acknowledge(buf)
  local seq = views[buf].alerts[vim.api.nvim_win_get_cursor(0)[1]]
  if not seq then
    return require('podd').say('no alert under the cursor')
  end
  require('podd.ask').acknowledge(seq)
end

local function map(buf)
  for key, f in pairs({
    a = function() answer(buf, 'once') end,
    A = function() answer(buf, 'always') end,
    d = function() answer(buf, 'deny') end,
    D = function() diff(buf) end,
    x = function() acknowledge(buf) end,
    i = function() require('podd.prompt').open(views[buf].pod) end,
  }) do
    vim.keymap.set('n', key, f, { buffer = buf, nowait = true, silent = true })
  end
end

-- load fills a buffer named podd://NAME and follows the pod.
function M.load(buf, name)
  local pod = name:gsub('^podd://', '')
  if pod:find('/') then
    return
  end
  local old = views[buf]
  if old then
    bridge.unstream(old.stream)
  end
  local v = { buf = buf, pod = pod, settled = 0, blocks = {}, levels = {}, alerts = {}, calls = {} }
  views[buf], current = v, v
  vim.bo[buf].buftype, vim.bo[buf].swapfile, vim.bo[buf].filetype = 'nofile', false, 'podd'
  vim.bo[buf].bufhidden = 'hide'
  map(buf)
  vim.api.nvim_create_autocmd('BufWinEnter', { buffer = buf, callback = options })
  vim.api.nvim_create_autocmd('BufEnter', { buffer = buf, callback = function() current = views[buf] or current end })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    callback = function()
      bridge.unstream(v.stream)
      views[buf] = nil
    end,
  })
  require('podd.ask').watch()
  M.begin(v)
  later(v)
end

-- begin asks podd for the pod's position, again while podd is not up.
function M.begin(v)
  bridge.request('GetPod', { pod = v.pod }, function(err, r)
    if views[v.buf] ~= v then
      return
    elseif err and err.kind == 'unavailable' then
      later(v)
      v.waiting = true
      return
    elseif err then
      v.ended = err.message
      return later(v)
    end
    v.waiting = false
    v.id, v.dir = r.pod.id, r.pod.spec.dir
    local last, first = tonumber(r.pod.last_seq), tonumber(r.pod.first_seq)
    attach(v, math.max(last - require('podd').config.history, first - 1, 0))
  end)
end

-- open shows the stream of a pod in a window.
function M.open(pod)
  local name = 'podd://' .. pod
  local buf = vim.fn.bufnr('^' .. name .. '$')
  for _, win in ipairs(buf > 0 and vim.fn.win_findbuf(buf) or {}) do
    if vim.api.nvim_win_get_tabpage(win) == vim.api.nvim_get_current_tabpage() then
      return vim.api.nvim_set_current_win(win)
    end
  end
  vim.cmd('keepalt split ' .. vim.fn.fnameescape(name))
  options()
end

-- redraw shows a pod's state again.
function M.redraw(pod)
  for _, v in pairs(views) do
    if v.pod == pod then
      later(v)
    end
  end
end

-- sight says whether a buffer follows a pod, by its id, and whether a window shows it.
function M.sight(id)
  for buf, v in pairs(views) do
    if v.id == id then
      return true, #vim.fn.win_findbuf(buf) > 0
    end
  end
  return false, false
end

-- status is what the statusline shows.
function M.status()
  local v = views[vim.api.nvim_get_current_buf()] or current
  if not v or not views[v.buf] then
    return ''
  end
  local text = ('podd %s: %s'):format(v.pod, summary(v))
  local n = require('podd.ask').unacknowledged()
  return n > 0 and ('%s !%d'):format(text, n) or text
end

bridge.on_connection(function(c)
  for _, v in pairs(views) do
    if c.up and v.waiting then
      M.begin(v)
    end
    later(v)
  end
end)

return M
