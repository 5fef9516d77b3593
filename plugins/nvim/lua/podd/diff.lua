-- What a call that waits would make of a file, as a diff in a tab of its own.
local M = {}

-- read is a file's text; nil if there is none, and a sentence if it cannot be read.
local function read(path)
  local stat = vim.loop.fs_stat(path)
  if not stat then
    return nil
  end
  local f = stat.type == 'file' and io.open(path, 'rb')
  local text = f and f:read('*a')
  if f then
    f:close()
  end
  return text, not text and ('cannot read ' .. path) or nil
end

-- edited is the text after edit_file; nil if the text to replace is not there as the call wants it.
local function edited(before, a)
  local old, new = a.old, a.new
  if type(old) ~= 'string' or type(new) ~= 'string' or old == '' then
    return nil
  end
  if before:find('\r\n', 1, true) and not before:find(old, 1, true) then
    old, new = old:gsub('\r?\n', '\r\n'), new:gsub('\r?\n', '\r\n')
  end
  local parts = vim.split(before, old, { plain = true })
  if #parts < 2 or #parts > 2 and a.all ~= true then
    return nil
  end
  return table.concat(parts, new)
end

local function one(a, after)
  return type(a.path) == 'string' and { { path = a.path, to = a.path, after = after } } or {}
end

-- changes are what the calls of a tool change, by its name.
local changes = {
  write_file = function(a)
    return one(a, function() return type(a.content) == 'string' and a.content or nil end)
  end,
  edit_file = function(a)
    return one(a, function(before) return edited(before, a) end)
  end,
  apply_patch = function(a)
    return type(a.input) == 'string' and require('podd.patch').changes(a.input) or {}
  end,
}

-- proposes says whether a call of a tool can be shown as a diff.
function M.proposes(tool)
  return changes[tool] ~= nil
end

-- proposals are { path, before, after } for each file of a call; nil and a sentence if the call
-- does not fit.
function M.proposals(call, dir)
  local ok, a = pcall(vim.json.decode, call.arguments)
  local list, out = ok and type(a) == 'table' and changes[call.tool](a) or {}, {}
  if #list == 0 then
    return nil, 'the call names no file'
  end
  local function absolute(path)
    return path:sub(1, 1) == '/' and path or dir .. '/' .. path
  end
  for i, c in ipairs(list) do
    local before, why = read(absolute(c.path))
    local after = c.after(before or '')
    if why or not after then
      return nil, why or ('the call does not fit %s exactly: read its arguments'):format(c.path)
    end
    out[i] = { path = absolute(c.to), before = before or '', after = after }
  end
  return out
end

-- side fills the current window with one side of the diff.
local function side(path, text, title)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_win_set_buf(0, buf)
  vim.bo[buf].bufhidden = 'wipe'
  local lines = vim.split((text:gsub('\n$', '')), '\n', { plain = true })
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.cmd('silent! doautocmd <nomodeline> filetypedetect BufRead ' .. vim.fn.fnameescape(path))
  vim.bo[buf].modifiable = false
  vim.wo.statusline = title:gsub('%%', '%%%%')
  vim.cmd('diffthis')
  return buf
end

-- tab opens a tab with the diff of one file, and returns its buffers.
local function tab(call, p)
  local safe = require('podd.safe')
  local name = safe.line(vim.fn.fnamemodify(p.path, ':t'))
  vim.cmd('tabnew')
  local empty = vim.api.nvim_get_current_buf()
  local now = side(p.path, p.before, name)
  vim.cmd('rightbelow vertical new')
  local spare = vim.api.nvim_get_current_buf()
  local proposed = side(p.path, p.after, ('%s as pod %s proposes it: [a] run once [A] always [d] deny [q] later'):format(name, safe.line(call.pod_name)))
  for _, buf in ipairs({ empty, spare }) do
    pcall(vim.api.nvim_buf_delete, buf, { force = true })
  end
  return { now, proposed }
end

-- show opens the diffs of a call, whose keys answer it: a tab for each file, the first in front.
function M.show(call, list)
  local bufs, first = {}, nil
  local function close()
    for _, buf in ipairs(bufs) do
      pcall(vim.api.nvim_buf_delete, buf, { force = true })
    end
  end
  for _, p in ipairs(list) do
    vim.list_extend(bufs, tab(call, p))
    first = first or vim.api.nvim_get_current_tabpage()
  end
  for _, buf in ipairs(bufs) do
    require('podd.ask').keys(buf, call, close)
  end
  vim.api.nvim_set_current_tabpage(first)
  require('podd.notice').window(call, close)
end

-- open shows the diff of a call that waits.
function M.open(call)
  local podd = require('podd')
  if not M.proposes(call.tool) then
    return podd.say(('a call of %s has no diff'):format(call.tool))
  end
  require('podd.bridge').request('GetPod', { pod = call.pod }, function(err, r)
    if err then
      return podd.fail(err)
    end
    local list, why = M.proposals(call, r.pod.spec.dir)
    if not list then
      return podd.say(why, vim.log.levels.ERROR)
    end
    M.show(call, list)
  end)
end

return M
