-- What a call that waits would make of files, as diffs in tabs of their own. podd says it.
local M = {}

-- A file larger than this is not read to show it whole, in bytes.
local MOST = 10 * 1024 * 1024

-- edits are the previews of files that a call changes. Those that it executes are in the question.
local function edits(call)
  return vim.tbl_filter(function(p) return not p.runs end, call.previews or {})
end

-- has says whether podd shows what a call would make of files.
function M.has(call)
  return #edits(call) > 0
end

-- content is what a file has; '' if there is none, nil if it cannot be shown.
local function content(path)
  local stat, _, code = vim.loop.fs_stat(path)
  if not stat then
    return code == 'ENOENT' and '' or nil
  end
  local f = stat.type == 'file' and stat.size <= MOST and io.open(path, 'rb')
  local text = f and f:read('*a')
  if f then
    f:close()
  end
  return text and not text:find('\0', 1, true) and text or nil
end

-- split are the lines of a text, with their ends.
local function split(text)
  local out = {}
  for line in text:gmatch('[^\n]*\n?') do
    out[#out + 1] = line ~= '' and line or nil
  end
  return out
end

-- hunks are the parts of a diff: lines { op, text }, below so many lines of the old text.
local function hunks(diff)
  local list = {}
  for _, line in ipairs(split(diff)) do
    local at, count = line:match('^@@ %-(%d+),?(%d*) %+')
    local h = list[#list]
    if at then
      list[#list + 1] = { above = tonumber(at) - (count == '0' and 0 or 1) }
    elseif line:sub(1, 1) == '\\' then
      h[#h][2] = h[#h][2]:gsub('\n$', '')
    else
      h[#h + 1] = { line:sub(1, 1), line:sub(2) }
    end
  end
  return list
end

-- patched is a text after a diff; nil if the diff is not of this text.
local function patched(before, diff)
  local old, out, at = split(before), {}, 0
  for _, h in ipairs(hunks(diff)) do
    vim.list_extend(out, old, at + 1, h.above)
    at = h.above
    for _, l in ipairs(h) do
      at = l[1] == '+' and at or at + 1
      if l[1] ~= '+' and old[at] ~= l[2] then
        return nil
      end
      out[#out + 1] = l[1] ~= '-' and l[2] or nil
    end
  end
  return table.concat(vim.list_extend(out, old, at + 1))
end

-- shown are the lines of a preview's diff, without those of an operation, and what it omits.
local function shown(p, without)
  local parts = {}
  for i, h in ipairs(hunks(p.diff)) do
    local lines = { i > 1 and '…\n' or '' }
    for _, l in ipairs(h) do
      lines[#lines + 1] = l[1] ~= without and l[2] or nil
    end
    parts[i] = table.concat(lines)
  end
  return table.concat(parts) .. (p.omitted ~= '' and ('… %s\n'):format(p.omitted) or '')
end

local function does(p)
  if p.moves_to ~= '' then
    return ' to move it to ' .. p.moves_to
  elseif p.deletes then
    return ' to delete it'
  end
  return p.base == '' and ' to create it' or ''
end

-- sides are a preview as the two sides of a diff: { path, before, after, does, lacks }, whole where
-- the file is the one that the preview was made from. lacks says what they do not show.
function M.sides(p, dir)
  local function absolute(path)
    return path:sub(1, 1) == '/' and path or dir .. '/' .. path
  end
  local now = p.omitted == '' and content(absolute(p.path)) or nil
  -- A file without a byte is like none here: both have the same sides.
  local same = now and (p.base == '' and now == '' or p.base ~= '' and vim.fn.sha256(now) == p.base)
  local after = same and patched(now, p.diff) or nil
  local lacks = p.omitted
  if lacks == '' and not after then
    lacks = now and not same and 'the file has changed since' or 'only the changed lines'
  end
  return {
    name = vim.fn.fnamemodify(p.path, ':t'), path = absolute(p.moves_to ~= '' and p.moves_to or p.path),
    before = after and now or shown(p, '+'), after = after or shown(p, '-'), does = does(p), lacks = lacks,
  }
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
  local name = safe.line(p.name)
  vim.cmd('tabnew')
  local empty = vim.api.nvim_get_current_buf()
  local now = side(p.path, p.before, name)
  vim.cmd('rightbelow vertical new')
  local spare = vim.api.nvim_get_current_buf()
  local proposed = side(p.path, p.after, ('pod %s proposes%s%s: [a] run once [A] always [d] deny [q] later'):format(
    safe.line(call.pod_name), safe.line(p.does), p.lacks ~= '' and (' (%s)'):format(safe.line(p.lacks)) or ''))
  for _, buf in ipairs({ empty, spare }) do
    pcall(vim.api.nvim_buf_delete, buf, { force = true })
  end
  return { now, proposed }
end

-- show opens the diffs of a call, whose keys answer it: a tab for each file, the first in front.
-- anew says that nobody asked for them: their keys wait until a person can have seen them.
local function show(call, list, anew)
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
    require('podd.ask').keys(buf, call, close, anew)
  end
  vim.api.nvim_set_current_tabpage(first)
  require('podd.notice').window(call, close, function(now) M.open(now, true) end)
end

-- open shows the diffs of a call that waits.
function M.open(call, anew)
  local podd = require('podd')
  if not M.has(call) then
    return podd.say(('a call of %s has no diff'):format(call.tool))
  end
  require('podd.bridge').request('GetPod', { pod = call.pod }, function(err, r)
    if err then
      return podd.fail(err)
    end
    show(call, vim.tbl_map(function(p) return M.sides(p, r.pod.spec.dir) end, edits(call)), anew)
    if anew then
      podd.say('a file has changed: podd asks again', vim.log.levels.WARN)
    end
  end)
end

return M
