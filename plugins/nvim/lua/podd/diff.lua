-- What a call that waits would make of a file, as a diff in a tab of its own.
local M = {}

-- proposes says whether a call of a tool can be shown as a diff.
function M.proposes(tool)
  return tool == 'write_file' or tool == 'edit_file'
end

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

-- proposal is { path, before, after } of a call; nil and a sentence if the call does not fit.
function M.proposal(call, dir)
  local ok, a = pcall(vim.json.decode, call.arguments)
  if not ok or type(a) ~= 'table' or type(a.path) ~= 'string' then
    return nil, 'the call names no file'
  end
  local path = a.path:sub(1, 1) == '/' and a.path or dir .. '/' .. a.path
  local before, why = read(path)
  if why then
    return nil, why
  end
  local after = call.tool == 'write_file' and a.content or edited(before or '', a)
  if type(after) ~= 'string' then
    return nil, ('the call does not fit %s as it is now: read its arguments'):format(a.path)
  end
  return { path = path, before = before or '', after = after }
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

-- show opens the diff of a call, whose keys answer it.
function M.show(call, p)
  local safe = require('podd.safe')
  local name = safe.line(vim.fn.fnamemodify(p.path, ':t'))
  vim.cmd('tabnew')
  local empty = vim.api.nvim_get_current_buf()
  local bufs = { side(p.path, p.before, name) }
  vim.cmd('rightbelow vertical new')
  bufs[2] = side(p.path, p.after, ('%s as pod %s proposes it: [a] run once [A] always [d] deny [q] later'):format(name, safe.line(call.pod_name)))
  local function close()
    for _, buf in ipairs(bufs) do
      if vim.api.nvim_buf_is_valid(buf) then
        vim.api.nvim_buf_delete(buf, { force = true })
      end
    end
  end
  for _, buf in ipairs(bufs) do
    require('podd.ask').keys(buf, call, close)
  end
  if vim.api.nvim_buf_is_valid(empty) then
    vim.api.nvim_buf_delete(empty, { force = true })
  end
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
    local p, why = M.proposal(call, r.pod.spec.dir)
    if not p then
      return podd.say(why, vim.log.levels.ERROR)
    end
    M.show(call, p)
  end)
end

return M
