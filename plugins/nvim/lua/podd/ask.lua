-- Approval questions and alerts.
local bridge = require('podd.bridge')
local view = require('podd.view')
local M = {}

-- How long answer keys are disabled after the calls that wait have changed, in milliseconds.
M.LOOK = 500

local watching, unacked = false, {}

-- rule is a rule in one line.
local function rule(r)
  local parts = { r.decision }
  for _, name in ipairs({ 'tool', 'path', 'command', 'host' }) do
    if (r[name] or '') ~= '' then
      parts[#parts + 1] = ('%s "%s"'):format(name, r[name])
    end
  end
  if r.access and #r.access > 0 then
    parts[#parts + 1] = 'access ' .. table.concat(r.access, ',')
  end
  return require('podd.safe').line(table.concat(parts, ', '))
end

-- answer answers a call: how is once, always or deny. It applies only to what was shown. Always
-- shows the rule that it adds, and asks before it does. A form is answered, or with deny left to the model.
function M.answer(a, how)
  local podd = require('podd')
  if a.form then
    return require('podd.form')[how == 'deny' and 'dismiss' or 'answer'](a)
  end
  local function send(reason)
    bridge.request('ResolveApproval', {
      pod = a.pod, call_seq = a.call_seq, digest = a.digest, client = 'nvim',
      approve = how ~= 'deny', always = how == 'always', reason = reason,
    }, function(err)
      if err then
        podd.fail(err)
      end
    end)
  end
  if how == 'always' then
    bridge.request('GetApprovalRule', { pod = a.pod, call_seq = a.call_seq }, function(err, r)
      if err then
        return podd.fail(err)
      end
      vim.ui.select({ 'Add the rule and run the call', 'Leave the call waiting' }, { prompt = 'Always: ' .. rule(r.rule) }, function(_, i)
        if i == 1 then
          send('')
        end
      end)
    end)
    return
  end
  if how ~= 'deny' then
    return send('')
  end
  vim.ui.input({ prompt = 'Reason for the model: ' }, function(reason)
    if reason then
      send(reason)
    end
  end)
end

-- keys sets the keys of a buffer that shows a call: each closes it and answers, except q. For one
-- that opened by itself, anew, they begin to answer a little later.
function M.keys(buf, a, close, anew)
  local from = anew and vim.loop.now() + M.LOOK or 0
  for key, how in pairs({ a = 'once', A = 'always', d = 'deny', q = false }) do
    vim.keymap.set('n', key, function()
      if how and vim.loop.now() < from then
        return require('podd').say('the call asks again: read it first')
      end
      close()
      if how then
        M.answer(a, how)
      end
    end, { buffer = buf, nowait = true, silent = true })
  end
end

-- hint names the keys that answer a call.
function M.hint(a, later)
  if a.form then
    return '  [a] answer [d] let the model decide' .. (later and ' [q] later' or '')
  end
  return '  [a] run once [A] always [d] deny' .. (require('podd.diff').has(a) and ' [D] diff' or '') .. (later and ' [q] later' or '')
end

-- ask shows a call completely, in a window of its own with keys that answer it. The window
-- closes when the call is answered anywhere.
function M.ask(a)
  local lines = view.approval(a)
  lines[#lines + 1] = M.hint(a, true)
  vim.cmd('botright new')
  local buf, win = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = 'nofile', 'wipe', false
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.api.nvim_win_set_height(win, math.min(#lines, 15))
  local function close()
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
  end
  M.keys(buf, a, close)
  vim.keymap.set('n', 'D', function() require('podd.diff').open(a) end, { buffer = buf, nowait = true, silent = true })
  require('podd.notice').window(a, close)
end

-- approvals lets the user choose one of the calls that wait, of all pods.
function M.approvals()
  bridge.request('ListApprovals', {}, function(err, r)
    local podd = require('podd')
    if err then
      return podd.fail(err)
    elseif #r.approvals == 0 then
      return podd.say('no calls wait for you')
    elseif #r.approvals == 1 then
      return M.ask(r.approvals[1])
    end
    vim.ui.select(r.approvals, {
      prompt = 'Which call?',
      format_item = function(a)
        return view.approval(a)[1] .. '  ' .. (a.form and require('podd.safe').line(a.question) or require('podd.arguments').brief(a.arguments))
      end,
    }, function(a)
      if a then
        M.ask(a)
      end
    end)
  end)
end

-- How often podd is asked which alerts are acknowledged while some are not, in milliseconds.
local AGAIN = 2000
local counting = false

-- acknowledged notes that an alert is acknowledged, here or elsewhere.
local function acknowledged(seq)
  unacked[seq] = nil
  require('podd.notice').acknowledged(seq)
  vim.cmd('redrawstatus!')
end

-- recount notes alerts that are acknowledged elsewhere, as long as some are not.
local function recount()
  if counting or not next(unacked) then
    return
  end
  counting = true
  vim.defer_fn(function()
    local before = vim.tbl_keys(unacked)
    bridge.request('ListAlerts', { unacked = true }, function(err, r)
      local still = {}
      for _, a in ipairs(err and {} or r.alerts) do
        still[a.seq] = true
      end
      for _, seq in ipairs(err and {} or before) do
        if not still[seq] then
          acknowledged(seq)
        end
      end
      counting = false
      recount()
    end)
  end, AGAIN)
end

-- acknowledge marks an alert as seen.
function M.acknowledge(seq)
  bridge.request('AckAlerts', { seqs = { seq } }, function(err)
    if err then
      return require('podd').fail(err)
    end
    acknowledged(seq)
    require('podd').say('acknowledged ' .. seq)
  end)
end

-- alerts lists the unacknowledged alerts, and acknowledges the chosen one.
function M.alerts()
  bridge.request('ListAlerts', { unacked = true }, function(err, r)
    local podd = require('podd')
    if err then
      return podd.fail(err)
    end
    local list = vim.tbl_filter(view.matters, r.alerts)
    if #list == 0 then
      return podd.say('no unacknowledged alerts')
    end
    vim.ui.select(list, { prompt = 'Acknowledge which alert?', format_item = view.alert }, function(a)
      if a then
        M.acknowledge(a.seq)
      end
    end)
  end)
end

-- watch follows the alerts of all pods: it counts earlier alerts and shows new ones.
function M.watch()
  if watching then
    return
  end
  watching = true
  bridge.request('ListAlerts', { unacked = true }, function(err, r)
    if err then
      watching = false
      return
    end
    local last, shown = '0', nil
    for _, a in ipairs(r.alerts) do
      unacked[a.seq], last = view.matters(a) or nil, a.seq
      shown = view.matters(a) and a or shown
    end
    if shown then
      require('podd.notice').unseen(M.unacknowledged(), shown)
    end
    recount()
    require('podd.notice').look()
    bridge.stream('StreamAlerts', { after_seq = last, unacked = true }, function(m)
      if m.alert then
        local matters = view.matters(m.alert)
        unacked[m.alert.seq] = matters or nil
        if view.asks(m.alert) then
          require('podd.notice').look()
        elseif matters then
          require('podd.notice').alert(m.alert)
        end
        recount()
        vim.cmd('redrawstatus!')
      elseif m['end'] then
        watching = false
      end
    end)
  end)
end

-- unacknowledged is the number of unacknowledged alerts.
function M.unacknowledged()
  return vim.tbl_count(unacked)
end

bridge.on_connection(function(c)
  if c.up and not watching and require('podd.stream').status() ~= '' then
    M.watch()
  end
end)

return M
