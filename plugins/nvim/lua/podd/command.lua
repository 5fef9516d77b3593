-- :Podd and its subcommands.
local bridge = require('podd.bridge')
local M = {}

local function podd()
  return require('podd')
end

-- pod_call is a subcommand that makes one call about the pod.
local function pod_call(method, said)
  return function()
    podd().with_pod(false, function(pod)
      bridge.request(method, { pod = pod }, function(err, r)
        if err then
          return podd().fail(err)
        end
        podd().say(said(r, pod))
      end)
    end)
  end
end

local function submit(o, text, how, image)
  if text == '' and o.range == 0 and not image then
    return podd().with_pod(true, function(pod) require('podd.prompt').open(pod) end)
  end
  local first, last, buf = o.line1, o.line2, vim.api.nvim_get_current_buf()
  podd().with_pod(true, function(pod, dir, p)
    -- A prompt that steers an idle pod begins a turn, which would act.
    local steer = how == 'steer' and not (p.state == 'POD_STATE_IDLE' and require('podd.submit').plans(pod, false))
    local segments = {}
    if text ~= '' then
      segments[1] = { text = { text = o.range > 0 and text .. '\n' or text } }
    end
    if o.range > 0 then
      vim.api.nvim_buf_call(buf, function()
        segments[#segments + 1] = require('podd.submit').selection(dir, first, last, how == 'paste')
      end)
    end
    segments[#segments + 1] = image
    require('podd.submit').send(pod, segments, steer)
    if how ~= 'steer' and vim.fn.bufwinid('podd://' .. pod) == -1 then
      local win = vim.api.nvim_get_current_win()
      require('podd.stream').open(pod)
      vim.api.nvim_set_current_win(win)
    end
  end)
end

-- image submits an image with a text or a range, or attaches it to the prompt.
local function image(o, arguments)
  local path, text = require('podd.image').split(arguments)
  local prompt = require('podd.prompt')
  if prompt.here() and text == '' and o.range == 0 then
    return prompt.attach(path)
  elseif path == '' then
    return podd().say('name the file of an image', vim.log.levels.ERROR)
  end
  local segment, why = require('podd.image').read(path)
  if not segment then
    return podd().say(why, vim.log.levels.ERROR)
  end
  submit(o, text, nil, segment)
end

-- show puts facts into a window, and returns its buffer.
local function show(title, lines)
  vim.cmd('botright new')
  local buf = vim.api.nvim_get_current_buf()
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = 'nofile', 'wipe', false
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.list_extend({ title }, lines))
  vim.bo[buf].modifiable = false
  return buf
end
M.show = show

local function stats()
  podd().with_pod(false, function(pod)
    bridge.request('GetStats', { pod = pod }, function(err, s)
      if err then
        return podd().fail(err)
      end
      local u = s.usage or { input_tokens = '0', cached_input_tokens = '0', output_tokens = '0', requests = '0' }
      show('pod ' .. pod, {
        ('turns: %s, requests: %s, tool calls: %s'):format(s.turns, u.requests, s.tool_calls),
        ('tokens: %s in (%s cached), %s out'):format(u.input_tokens, u.cached_input_tokens, u.output_tokens),
        ('cost: $%.4f (%s requests without a price)'):format(s.cost_usd, s.unpriced_requests),
      })
    end)
  end)
end

local function context()
  local safe = require('podd.safe')
  podd().with_pod(false, function(pod)
    bridge.request('GetContext', { pod = pod }, function(err, c)
      if err then
        return podd().fail(err)
      end
      local lines = {}
      for _, it in ipairs(c.items) do
        lines[#lines + 1] = ('#%s  ~%s  %s  %s  %s'):format(it.seq, it.tokens, safe.line(it.kind), safe.line(it.note), safe.line(it.head))
      end
      show(('the next request of pod %s: about %s tokens, for model %s'):format(pod, c.tokens, safe.line(c.model)), lines)
    end)
  end)
end

local function plan()
  podd().with_pod(true, function(pod, _, p)
    local s = require('podd.submit')
    local on = not s.plans(pod, p.spec.plan)
    s.plan(pod, on)
    require('podd.stream').redraw(pod)
    podd().say(on and ('prompts to pod %s only plan, until the next :Podd plan'):format(pod) or ('prompts to pod %s act'):format(pod))
  end)
end

-- marked is a pod in a list: whether no call waits for it, and how many letters no turn has taken.
local function marked(p)
  local background = p.spec.parent ~= '' and p.spec.parent_call == ''
  local n = p.letters or 0
  local letters = n > 0 and ('  %d letter%s'):format(n, n == 1 and '' or 's') or ''
  return ('%s  %s%s%s'):format(p.name, p.spec.dir, background and '  in the background' or '', letters)
end

local function pods()
  bridge.request('ListPods', {}, function(err, r)
    if err then
      return podd().fail(err)
    elseif #r.pods == 0 then
      return podd().say('no pods yet: create one with :Podd submit TEXT')
    end
    vim.ui.select(r.pods, {
      prompt = 'Open which pod?',
      format_item = marked,
    }, function(p)
      if p then
        require('podd.stream').open(p.name)
      end
    end)
  end)
end

local verbs = {
  open = function(_, name)
    if name ~= '' then
      return require('podd.stream').open(name)
    end
    podd().with_pod(true, function(pod) require('podd.stream').open(pod) end)
  end,
  use = function(_, name)
    podd().config.pod = name ~= '' and name or nil
  end,
  submit = function(o, text) submit(o, text) end,
  paste = function(o, text) submit(o, text, 'paste') end,
  steer = function(o, text) submit(o, text, 'steer') end,
  image = image,
  prompt = function() submit({ range = 0 }, '') end,
  plan = plan,
  model = function(o, name) require('podd.model').model(o, name) end,
  effort = function(o, value) require('podd.model').effort(o, value) end,
  cancel = pod_call('Cancel', function(r, pod)
    return r.cancelled and ('cancelled turn %s of pod %s'):format(r.turn, pod) or ('pod %s has no running turn'):format(pod)
  end),
  pause = pod_call('Pause', function(_, pod) return ('paused pod %s'):format(pod) end),
  resume = pod_call('Resume', function(_, pod) return ('resumed pod %s'):format(pod) end),
  approvals = function() require('podd.ask').approvals() end,
  alerts = function() require('podd.ask').alerts() end,
  diff = function(_, turn)
    podd().with_pod(false, function(pod) require('podd.changes').diff(pod, turn) end)
  end,
  undo = function()
    podd().with_pod(false, function(pod) require('podd.changes').undo(pod) end)
  end,
  pods = pods,
  stats = stats,
  context = context,
  stop = function() bridge.stop() end,
}

-- run is :Podd. Without a subcommand it opens the pod's stream.
function M.run(o)
  local verb, rest = o.args:match('^(%S*)%s*(.-)%s*$')
  if verb == '' then
    verb = o.range > 0 and 'submit' or 'open'
  end
  if not verbs[verb] then
    return podd().say(('unknown command :Podd %s; :help podd lists the commands'):format(verb), vim.log.levels.ERROR)
  end
  verbs[verb](o, rest)
end

local function starting(list, start)
  table.sort(list)
  return vim.tbl_filter(function(s) return vim.startswith(s, start) end, list)
end

-- here is the pod of the buffer or directory; nil if there is none.
local function here()
  local pod, err, r = podd().named()
  if not pod then
    err, r = bridge.call('FindPod', { dir = vim.fn.getcwd() })
    pod = not err and r.pod.name
  end
  return pod
end

-- complete completes subcommands, pod names, and the @path and /NAME of a submit.
function M.complete(start, line)
  local verb = line:match('Podd%s+(%S+)%s')
  if not verb then
    return starting(vim.tbl_keys(verbs), start)
  elseif verb == 'open' or verb == 'use' then
    local err, r = bridge.call('ListPods', {})
    return err and {} or starting(vim.tbl_map(function(p) return p.name end, r.pods), start)
  elseif verb == 'model' or verb == 'effort' then
    return starting(require('podd.model').complete(verb), start)
  elseif verb == 'image' and start:sub(1, 1) ~= '@' then
    return require('podd.image').complete(start)
  elseif verb == 'submit' and line:find('%ssubmit%s+/%S*$') then
    local pod = here()
    return pod and vim.tbl_map(function(p) return p.word end, require('podd.prompt').names(pod, start)) or {}
  elseif start:sub(1, 1) == '@' then
    local pod = here()
    if pod then
      local err, r = bridge.call('CompletePath', { pod = pod, prefix = start:sub(2) })
      return err and {} or vim.tbl_map(function(p) return '@' .. p end, r.paths)
    end
  end
  return {}
end

return M
