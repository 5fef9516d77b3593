-- Notices of calls that wait for approval: one for each, by one Neovim, taken back when the
-- call is answered. A call whose stream is on the screen needs none.
local bridge = require('podd.bridge')
local claim = require('podd.claim')
local M = {}

-- How often the calls are looked at while some wait, and how long a call is left to a Neovim
-- that follows its pod, in milliseconds.
local AGAIN, LEAVE = 2000, 1000

-- By the key of a call that waits: when it was first seen, its notice, and what closes its window.
local since, notices, windows = {}, {}, {}
local looking, stale, timer = false, false, false

local function key(a)
  return a.pod .. '-' .. a.call_seq
end

-- withdraw ends all that is shown of a call.
local function withdraw(k)
  local n, close = notices[k], windows[k]
  since[k], notices[k], windows[k] = nil, nil, nil
  claim.drop(k)
  if close then
    close()
  end
  if n and type(n.record) == 'table' then
    -- Notifiers such as nvim-notify replace what they have shown.
    vim.notify(n.text .. ': answered', vim.log.levels.INFO, { replace = n.record })
  elseif n and vim.trim(vim.fn.execute('1messages')) == n.text then
    vim.api.nvim_echo({ { '' } }, false, {})
  end
end

local function settle(list)
  local waits, time = {}, vim.loop.now()
  for _, a in ipairs(list) do
    local k = key(a)
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

-- window says that a window shows a call, and what closes it once the call is answered.
function M.window(a, close)
  local k = key(a)
  if windows[k] then
    windows[k]()
  end
  windows[k], since[k] = close, since[k] or vim.loop.now()
  M.look()
end

return M
