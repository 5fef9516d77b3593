-- Which Neovim shows a notice: the one that has its claim, a file that names the process. A claim
-- counts as long as that process runs.
local M = {}

local mine = {}

local function path(key)
  return vim.fn.stdpath('cache') .. '/podd/questions/' .. key:gsub('[^%w_-]', '_')
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

-- runs says whether the process of a claim runs. A claim without a number is being written.
local function runs(file)
  local f = io.open(file, 'r')
  if not f then
    return false
  end
  local pid = tonumber(f:read('*a'))
  f:close()
  local _, _, code = vim.loop.kill(pid or vim.loop.os_getpid(), 0)
  return code ~= 'ESRCH'
end

-- alert is the key of an alert, also where several podds are in use.
function M.alert(a)
  return ('alert-%s-%s'):format(a.seq, a.time)
end

-- take says whether this Neovim has the claim to a notice; it gets one that nobody has.
function M.take(key)
  if mine[key] then
    return true
  end
  local file = path(key)
  vim.fn.mkdir(vim.fn.fnamemodify(file, ':h'), 'p', 448)
  if not runs(file) then
    vim.loop.fs_unlink(file)
  end
  mine[key] = write(file) or nil
  return mine[key] ~= nil
end

-- drop gives a claim up.
function M.drop(key)
  if mine[key] then
    mine[key] = nil
    vim.loop.fs_unlink(path(key))
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
