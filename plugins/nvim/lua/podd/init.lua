-- podd for Neovim. :help podd
local M = {}

M.config = {
  -- The path of podctl.
  podctl = 'podctl',
  -- podd's socket; nil: podctl finds it.
  socket = nil,
  -- How many earlier entries a stream buffer shows.
  history = 200,
  -- The pod to talk to outside of podd:// buffers; nil: $PODD_POD, else the pod of the
  -- current directory.
  pod = nil,
}

-- setup changes settings. Calling it is optional.
function M.setup(config)
  for key, value in pairs(config or {}) do
    if M.config[key] == nil and key ~= 'socket' and key ~= 'pod' then
      error('podd: unknown setting ' .. tostring(key))
    end
    M.config[key] = value
  end
end

-- say shows a message in one line of the screen, so that no key press is needed to
-- continue; level is one of vim.log.levels. It returns what vim.notify does, and the message.
function M.say(text, level)
  text = 'podd: ' .. require('podd.safe').line(text)
  local room = vim.o.columns - 15
  if vim.fn.strdisplaywidth(text) > room then
    text = vim.fn.strcharpart(text, 0, math.max(room, 20)) .. '…'
  end
  return vim.notify(text, level or vim.log.levels.INFO), text
end

-- fail shows an error of podd completely.
function M.fail(err)
  vim.notify('podd: ' .. require('podd.safe').line(err.message), vim.log.levels.ERROR)
end

-- pod_of is the pod of a stream or prompt buffer; nil for other buffers.
local function pod_of(buf)
  return vim.api.nvim_buf_get_name(buf):match('^podd://([^/]+)')
end

-- named is the pod of the current buffer, of :Podd use, or of $PODD_POD; nil if none of
-- these is set.
function M.named()
  local name = pod_of(0) or M.config.pod or vim.env.PODD_POD
  return name ~= '' and name or nil
end

-- on_screen is the only one of some pods that has a window here, or nil.
local function on_screen(names)
  local found
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local pod = pod_of(vim.api.nvim_win_get_buf(win))
    if pod and pod ~= found and vim.tbl_contains(names, pod) then
      if found then
        return nil
      end
      found = pod
    end
  end
  return found
end

-- with calls f with the name and the directory of a pod.
local function with(name, f)
  require('podd.bridge').request('GetPod', { pod = name }, function(err, r)
    if err then
      return M.fail(err)
    end
    f(r.pod.name, r.pod.spec.dir, r.pod)
  end)
end

-- with_pod calls f with the name and the directory of the pod to talk to. With create, it
-- creates a missing pod for the current directory.
function M.with_pod(create, f)
  local bridge = require('podd.bridge')
  local named = M.named()
  if named then
    return with(named, f)
  end
  bridge.request('FindPod', { dir = vim.fn.getcwd(), create = create }, function(err, r)
    if err and err.reason == 'SEVERAL_PODS' then
      local names = vim.split(err.meta.pods, ' ')
      local shown = on_screen(names)
      if shown then
        return with(shown, f)
      end
      vim.ui.select(names, { prompt = 'Which pod?' }, function(name)
        if name then
          with(name, f)
        end
      end)
      return
    elseif err then
      return M.fail(err)
    end
    if r.created then
      M.say(('created pod %s in %s'):format(r.pod.name, r.pod.spec.dir))
    end
    f(r.pod.name, r.pod.spec.dir, r.pod)
  end)
end

-- statusline is the state of the pod of the current buffer, or of the last followed pod;
-- '' without one.
function M.statusline()
  return require('podd.stream').status()
end

return M
