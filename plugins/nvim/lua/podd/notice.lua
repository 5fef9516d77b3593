-- Notices of calls that wait for approval: one for each, by one Neovim, taken back when the
-- call is answered. A call whose stream is on the screen needs none.
local bridge = require('podd.bridge')
local claim = require('podd.claim')
local M = {}

-- How often the calls are looked at while some wait, and how long a call is left to a Neovim
-- that follows its pod, in milliseconds.
local AGAIN, LEAVE = 2000, 1000

-- By the key of a call that waits: when it was first seen, its notice, and its window.
local since, notices, windows = {}, {}, {}
-- By the key of a call that had a window with a diff: what opens that for what it asks anew.
local diffs = {}
local looking, stale, timer = false, false, false

local function key(a)
  return a.pod .. '-' .. a.call_seq
end

-- withdraw ends all that is shown of a call.
local function withdraw(k)
  local n, w = notices[k], windows[k]
  since[k], notices[k], windows[k] = nil, nil, nil
  claim.drop(k)
  if w then
    w.close()
  end
  if n and type(n.record) == 'table' then
    -- Notifiers such as nvim-notify replace what they have shown.
    vim.notify(n.text .. ': answered', vim.log.levels.INFO, { replace = n.record })
  elseif n and vim.trim(vim.fn.execute('1messages')) == n.text then
    vim.api.nvim_echo({ { '' } }, false, {})
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
    local known, visible = require('podd.stream').sight(a)
    if (known or time - since[k] >= LEAVE) and claim.take(k) and not visible and not notices[k] and not windows[k] then
      local record, text = require('podd').say(('a call of pod %s needs approval: :Podd approvals'):format(a.pod_name), vim.log.levels.WARN)
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
