-- Which Neovim, or window of VS Code, shows a notice: the one that has its claim, a file that names
-- the process. A claim counts as long as that process runs. The claim after that of process 7 is a
-- file with .7 behind the name, so that of several successors one gets it.
local M = {}

-- The file of each claim of this Neovim, by its key.
local mine = {}

-- dir is that of all claims; VS Code's extension uses the same.
local function dir()
  local cache = vim.env.XDG_CACHE_HOME
  return ((cache and cache ~= '') and cache or vim.loop.os_homedir() .. '/.cache') .. '/podd/notices'
end

-- write makes a claim; false if somebody has it.
local function write(file)
  local fd, why, code = vim.loop.fs_open(file, 'wx', 384)
  if fd then
    vim.loop.fs_write(fd, tostring(vim.loop.os_getpid()), 0)
    vim.loop.fs_close(fd)
  end
  -- Without a place for claims, two notices are better than none.
  return fd ~= nil or (code or why) ~= 'EEXIST'
end

-- owner is the process that a claim names, 0 while it is being written; nil without a claim.
local function owner(file)
  local f = io.open(file, 'r')
  if not f then
    return nil
  end
  local pid = tonumber(f:read('*a'))
  f:close()
  return pid or 0
end

local function runs(pid)
  if pid == 0 then
    return true
  end
  local _, _, code = vim.loop.kill(pid, 0)
  return code ~= 'ESRCH'
end

-- alert is the key of an alert, also where several podds are in use: its number and second.
function M.alert(a)
  return ('alert-%s-%s'):format(a.seq, a.time:sub(1, 19))
end

-- take says whether this Neovim has the claim to a notice; it gets one that nobody has.
function M.take(key)
  if mine[key] then
    return true
  end
  local file, me = dir() .. '/' .. key:gsub('[^%w_-]', '_'), vim.loop.os_getpid()
  pcall(vim.fn.mkdir, dir(), 'p', 448)
  local pid = owner(file)
  while pid and pid ~= me do
    if runs(pid) then
      return false
    end
    file = file .. '.' .. pid
    pid = owner(file)
  end
  if pid == me or write(file) then
    mine[key] = file
  end
  return mine[key] ~= nil
end

-- drop gives a claim up.
function M.drop(key)
  if mine[key] then
    vim.loop.fs_unlink(mine[key])
    mine[key] = nil
  end
end

vim.api.nvim_create_autocmd('VimLeavePre', {
  callback = function()
    for key in pairs(mine) do
      M.drop(key)
    end
  end,
})

return M
