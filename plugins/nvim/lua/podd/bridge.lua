-- The one `podctl bridge` of this Neovim: requests, streams that outlive podd and the
-- bridge, and whether podd is up. docs/clients.md of podd describes the protocol.
local M = {}

local PROTOCOL = 1
-- The delay before an ended bridge is started again, in milliseconds: the first and the
-- longest.
local FIRST_PAUSE, LONGEST_PAUSE = 200, 5000

local job, hello, pause, restarting
local last_id = 0
local pending, streams = {}, {}
local listeners = {}
local connection = { up = false }

-- connection says whether podd is up: { up, podd, error }.
function M.connection()
  return connection
end

-- hello is the bridge's first line; nil before it arrives.
function M.hello()
  return hello
end

-- on_connection calls f each time that podd goes away or comes back.
function M.on_connection(f)
  listeners[#listeners + 1] = f
end

local function set_connection(c)
  connection = c
  for _, f in ipairs(listeners) do
    f(c)
  end
end

local function failed(message)
  return { kind = 'unavailable', reason = 'BRIDGE', message = message }
end

local function write(id, method, params)
  local request = { id = id, method = method }
  if params and next(params) ~= nil then
    request.params = params
  end
  vim.fn.chansend(job, vim.json.encode(request) .. '\n')
end

local function take(line)
  local ok, m = pcall(vim.json.decode, line)
  if not ok or type(m) ~= 'table' then
    return
  end
  if m.stream ~= nil then
    local s = streams[m.stream]
    if s then
      local after = m.blocks or m.alert
      if after and after.seq then
        s.params.after_seq = after.seq
      end
      if m['end'] then
        streams[m.stream] = nil
      end
      s.handle(m)
    end
  elseif m.id ~= nil then
    local p = pending[m.id]
    pending[m.id] = nil
    if p then
      p.done(m.error, m.result)
    end
  elseif m.hello then
    hello, pause = m.hello, nil
    if hello.protocol ~= PROTOCOL then
      set_connection({ up = false, error = failed(('podctl uses bridge protocol %s, this plugin %d: install the same version of both'):format(hello.protocol, PROTOCOL)) })
      return
    end
    set_connection(hello.connection)
  elseif m.connection then
    set_connection(m.connection)
  end
end

local start

-- gone handles the end of the bridge: requests fail, except those that may be repeated,
-- which the next bridge sends again.
local function gone(code, words)
  job, hello = nil, nil
  local again = next(streams) ~= nil
  for id, p in pairs(pending) do
    if p.again then
      again = true
    else
      pending[id] = nil
      p.done(failed('the bridge ended: ' .. words))
    end
  end
  set_connection({ up = false, error = failed(('podctl bridge ended with exit code %d: %s'):format(code, words)) })
  if not again then
    return
  end
  pause = math.min((pause or FIRST_PAUSE / 2) * 2, LONGEST_PAUSE)
  restarting = true
  vim.defer_fn(function()
    restarting = false
    if not job then
      start()
    end
  end, pause)
end

start = function()
  local config = require('podd').config
  local cmd = { config.podctl, 'bridge' }
  if config.socket then
    vim.list_extend(cmd, { '--socket', config.socket })
  end
  if vim.fn.executable(config.podctl) == 0 then
    gone(127, config.podctl .. ' is not in PATH: install podctl, or set its path with setup({ podctl = ... })')
    return
  end
  local part, words = {}, ''
  local this
  this = vim.fn.jobstart(cmd, {
    on_stdout = function(_, data)
      part[#part + 1] = data[1]
      for i = 2, #data do
        local line = table.concat(part)
        part = { data[i] }
        if line ~= '' and this == job then
          take(line)
        end
      end
    end,
    on_stderr = function(_, data)
      words = (words .. table.concat(data, ' ')):sub(-500)
    end,
    on_exit = function(_, code)
      if this == job then
        gone(code, vim.trim(require('podd.safe').line(words)))
      end
    end,
  })
  job = this
  for id, s in pairs(streams) do
    s.handle({ restarted = true })
    write(id, s.method, s.params)
  end
  for id, p in pairs(pending) do
    write(id, p.method, p.params)
  end
end

-- ready starts the bridge if it is not running. It is false while a restart is pending.
local function ready()
  if not job and not restarting then
    start()
  end
  return job ~= nil
end

-- request sends a request; done gets the error, or nil and the result. The next bridge
-- repeats a submit; podd accepts it once.
function M.request(method, params, done)
  local up = ready()
  last_id = last_id + 1
  local again = method == 'Submit'
  if not up and not again then
    vim.schedule(function()
      done(connection.error or failed('podctl bridge is not running'))
    end)
    return
  end
  pending[last_id] = { method = method, params = params, done = done, again = again }
  if up then
    write(last_id, method, params)
  end
end

-- call waits for the answer, by default at most a second.
function M.call(method, params, patience)
  local answered, err, result = false, nil, nil
  M.request(method, params, function(e, r)
    answered, err, result = true, e, r
  end)
  if not vim.wait(patience or 1000, function() return answered end, 10) then
    return failed('podd did not answer in time'), nil
  end
  return err, result
end

-- stream opens a stream; handle gets each of its lines. After podd or the bridge has
-- restarted, it resumes after the last entry or alert; for a new bridge, handle gets
-- { restarted = true }.
function M.stream(method, params, handle)
  local up = ready()
  last_id = last_id + 1
  streams[last_id] = { method = method, params = params, handle = handle }
  if up then
    write(last_id, method, params)
  end
  return last_id
end

-- unstream ends a stream.
function M.unstream(id)
  if streams[id] then
    streams[id] = nil
    if job then
      M.request('Unstream', { stream = id }, function() end)
    end
  end
end

-- stop ends the bridge and all streams.
function M.stop()
  streams, pending = {}, {}
  if job then
    local old = job
    job, hello = nil, nil
    vim.fn.chanclose(old, 'stdin')
    set_connection({ up = false })
  end
end

return M
