-- Submits: typed text, with a selection as a reference to its file or as a paste.
local bridge = require('podd.bridge')
local M = {}

local count = 0

-- By pod, whether plan mode was switched on or off here.
local plans = {}

-- plans says whether prompts to a pod begin turns that only plan; setting is the pod's own.
function M.plans(pod, setting)
  if plans[pod] == nil then
    return setting
  end
  return plans[pod]
end

-- plan switches plan mode of later prompts to a pod.
function M.plan(pod, on)
  plans[pod] = on
end

-- request_id makes podd accept a submit once, however often it is sent.
local function request_id()
  count = count + 1
  return ('nvim-%d-%d-%d'):format(vim.fn.getpid(), vim.loop.hrtime(), count)
end

-- compact summarizes the conversation.
local function compact(pod, done)
  local podd = require('podd')
  bridge.request('Compact', { pod = pod }, function(failed)
    if failed then
      return podd.fail(failed)
    end
    podd.say('the conversation is summarized')
    if done then
      done()
    end
  end)
end

-- send submits segments to a pod. done, if set, is called once podd has them. A prompt that
-- steers follows the turn that it joins.
function M.send(pod, segments, steer, done)
  local podd = require('podd')
  local text = segments[1] and segments[1].text and segments[1].text.text or ''
  if text:find('^/compact%s*$') then
    return compact(pod, done)
  end
  local plan
  if not steer then
    plan = plans[pod]
  end
  bridge.request('Submit', {
    plan = plan,
    pod = pod, segments = segments, request_id = request_id(), parse_refs = true,
    mode = steer and 'SUBMIT_MODE_STEER' or 'SUBMIT_MODE_QUEUE',
  }, function(err, r)
    if err then
      return podd.fail(err)
    end
    for _, a in ipairs(r.alerts) do
      podd.say(require('podd.view').alert(a), vim.log.levels.WARN)
    end
    if r.queued then
      podd.say('queued; it runs after the running turn')
    end
    if done then
      done()
    end
  end)
end

-- reference is a range of the current buffer as a file reference; nil if the file on disk
-- differs from the buffer or is outside the workspace.
local function reference(dir, first, last)
  local path = vim.api.nvim_buf_get_name(0)
  if vim.bo.modified or vim.bo.buftype ~= '' or path == '' then
    return nil
  end
  path = vim.loop.fs_realpath(path)
  if not path or path:sub(1, #dir + 1) ~= dir .. '/' then
    return nil
  end
  return { file_ref = { path = path:sub(#dir + 2), start_line = first, end_line = last } }
end

-- selection is a range of the current buffer as a segment: a reference if possible and no
-- paste is requested, otherwise a paste.
function M.selection(dir, first, last, paste)
  local ref = not paste and reference(dir, first, last)
  if ref then
    return ref
  end
  -- podd accepts names of 256 bytes.
  local name = vim.fn.strcharpart(vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ':t'), 0, 50)
  return {
    paste = {
      text = table.concat(vim.api.nvim_buf_get_lines(0, first - 1, last, false), '\n') .. '\n',
      name = ('%s:%d-%d, as it is in the editor'):format(name, first, last),
    },
  }
end

return M
