-- podd for Neovim. :help podd
local M = {}

M.config = {
  -- The program to start.
  podctl = 'podctl',
  -- podd's socket; nil: podctl finds it.
  socket = nil,
  -- How many entries of a pod's past a stream buffer begins with.
  history = 200,
  -- The pod to talk to outside of podd:// buffers; nil: $PODD_POD, else the pod of the
  -- current directory.
  pod = nil,
}

-- setup changes settings. It need not be called.
function M.setup(config)
  for key, value in pairs(config or {}) do
    if M.config[key] == nil and key ~= 'socket' and key ~= 'pod' then
      error('podd: there is no setting ' .. tostring(key))
    end
    M.config[key] = value
  end
end

-- say shows a sentence in one line of the screen, so that nobody has to press a key
-- before podd goes on; level is one of vim.log.levels.
function M.say(text, level)
  text = 'podd: ' .. require('podd.safe').line(text)
  local room = vim.o.columns - 15
  if vim.fn.strdisplaywidth(text) > room then
    text = vim.fn.strcharpart(text, 0, math.max(room, 20)) .. '…'
  end
  vim.notify(text, level or vim.log.levels.INFO)
end

-- fail shows an error of podd, whole.
function M.fail(err)
  vim.notify('podd: ' .. require('podd.safe').line(err.message), vim.log.levels.ERROR)
end

-- pod_of is the pod whose stream or prompt a buffer is; nil for other buffers.
local function pod_of(buf)
  return vim.api.nvim_buf_get_name(buf):match('^podd://([^/]+)')
end

-- named is the pod that is meant without a look at the current directory: that of the
-- current buffer, of :Podd use, or of $PODD_POD; nil for none.
function M.named()
  local name = pod_of(0) or M.config.pod or vim.env.PODD_POD
  return name ~= '' and name or nil
end

-- on_screen is the one of some pods that has a window here; nil for none or several.
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

-- with_pod calls f with the name and the directory of the pod to talk to. With create, the
-- pod of the current directory is made when there is none.
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
      vim.ui.select(names, { prompt = 'which pod?' }, function(name)
        if name then
          with(name, f)
        end
      end)
      return
    elseif err then
      return M.fail(err)
    end
    if r.created then
      M.say(('made pod %s for %s'):format(r.pod.name, r.pod.spec.dir))
    end
    f(r.pod.name, r.pod.spec.dir, r.pod)
  end)
end

-- statusline is a few words about the pod of the current buffer, or of the one that was
-- followed last; '' when none is.
function M.statusline()
  return require('podd.stream').status()
end

return M
