-- Notices, each by one editor; docs/editors.md of podd lists them. That of a call that waits is
-- taken back when the call is answered, and one whose stream is on the screen needs none. That of an
-- alert is taken back when the alert is acknowledged.
local bridge = require('podd.bridge')
local claim = require('podd.claim')
local M = {}

-- How often the calls are looked at while some wait, in milliseconds.
local AGAIN = 2000

-- leave is how long a notice about a pod is left to other editors, in milliseconds: first to one that
-- shows the pod, which VS Code learns within a second, then to one that follows it.
local function leave(pod)
  local known, visible = require('podd.stream').sight(pod)
  return visible and 0 or known and 1500 or 4500
end

-- How long a turn runs whose end is worth a notice, in milliseconds.
M.LONG = 60000

-- By the key of a call that waits: when it was first seen, its notice, and its window.
local since, notices, windows = {}, {}, {}
-- By the key of a call that had a window with a diff: what opens that for what it asks anew.
local diffs = {}
local looking, stale, timer = false, false, false

local function key(a)
  return a.pod .. '-' .. a.call_seq
end

-- By its key, the notice of an alert, with the alert's number.
local alerts = {}

-- take_back takes back a notice, and says why where the notifier shows that.
local function take_back(n, why)
  if type(n.record) == 'table' then
    -- Notifiers such as nvim-notify replace what they have shown.
    vim.notify(n.text .. ': ' .. why, vim.log.levels.INFO, { replace = n.record })
  elseif vim.trim(vim.fn.execute('1messages')) == n.text then
    vim.api.nvim_echo({ { '' } }, false, {})
  end
end

-- withdraw ends all that is shown of a call.
local function withdraw(k)
  local n, w = notices[k], windows[k]
  since[k], notices[k], windows[k] = nil, nil, nil
  claim.drop(k)
  if w then
    w.close()
  end
  if n then
    take_back(n, 'answered')
  end
end

-- renew closes the window of a call that asks anew, and opens the diff that it had.
local function renew(k, a)
  local w, d = windows[k], diffs[k]
  if w and w.digest ~= a.digest then
    windows[k] = nil
    w.close()
  end
  if d and d.digest ~= a.digest then
    diffs[k] = nil
    d.open(a)
  end
end

local function settle(list)
  local waits, time = {}, vim.loop.now()
  for _, a in ipairs(list) do
    local k = key(a)
    renew(k, a)
    waits[k], since[k] = true, since[k] or time
    local _, visible = require('podd.stream').sight(a.pod)
    if time - since[k] >= leave(a.pod) and claim.take(k) and not visible and not notices[k] and not windows[k] then
      local what = a.form and 'pod %s asks you: :Podd approvals' or 'a call of pod %s needs approval: :Podd approvals'
      local record, text = require('podd').say(what:format(a.pod_name), vim.log.levels.WARN)
      notices[k] = { record = record, text = text }
    end
  end
  for k in pairs(since) do
    if not waits[k] then
      withdraw(k)
    end
  end
  if next(waits) and not timer then
    timer = true
    vim.defer_fn(function()
      timer = false
      M.look()
    end, AGAIN)
  end
end

-- look asks podd which calls wait.
function M.look()
  if looking then
    stale = true
    return
  end
  looking = true
  bridge.request('ListApprovals', {}, function(err, r)
    looking = false
    if not err then
      settle(r.approvals)
    end
    if stale then
      stale = false
      M.look()
    end
  end)
end

-- once tells something about a pod, by one editor.
local function once(k, pod, tell)
  local _, visible = require('podd.stream').sight(pod)
  vim.defer_fn(function()
    if claim.take(k) then
      tell(visible)
    end
  end, pod == '' and 0 or leave(pod))
end

-- say_alert says something that matters until an alert is acknowledged.
local function say_alert(k, seq, text, level)
  local record, said = require('podd').say(text, level)
  alerts[k] = { record = record, text = said, seq = seq }
end

-- alert tells a new alert.
function M.alert(a)
  local k = claim.alert(a)
  once(k, a.pod, function()
    say_alert(k, a.seq, require('podd.view').alert(a), vim.log.levels.WARN)
  end)
end

-- unseen tells how many alerts there were before this Neovim followed a pod; last is the last of them.
function M.unseen(count, last)
  local k = 'unseen-' .. claim.alert(last)
  once(k, '', function()
    say_alert(k, last.seq, ('%d unacknowledged alert%s: :Podd alerts'):format(count, count == 1 and '' or 's'))
  end)
end

-- acknowledged takes back the notices that matter until an alert is acknowledged.
function M.acknowledged(seq)
  for k, n in pairs(alerts) do
    if n.seq == seq then
      alerts[k] = nil
      take_back(n, 'acknowledged')
    end
  end
end

-- finished tells that a turn finished which ran for so many milliseconds, unless its stream is on
-- the screen.
function M.finished(pod, id, turn, ran)
  if ran < M.LONG then
    return
  end
  once(('end-%s-%s'):format(id, turn), id, function(visible)
    if not visible then
      require('podd').say(('%s finished turn %s'):format(pod, turn))
    end
  end)
end

-- window says that a window shows a call, and what closes it once the call is answered. open, if
-- set, shows what the call asks anew if a file has changed by then.
function M.window(a, close, open)
  local k = key(a)
  if windows[k] then
    windows[k].close()
  end
  windows[k], since[k] = { digest = a.digest, close = close }, since[k] or vim.loop.now()
  diffs[k] = open and { digest = a.digest, open = open } or diffs[k]
  M.look()
end

return M
