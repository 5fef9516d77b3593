-- The prompt buffer of a pod: :write sends it, and @path and /NAME are completed.
local bridge = require('podd.bridge')
local M = {}

local pods = {}
-- images are those that a prompt sends with its text.
local images = {}

-- start_of is the byte column after the @ of the reference before the cursor, or nil.
function M.start_of(line)
  local at
  for i = 1, #line do
    if line:sub(i, i) == '@' and (i == 1 or line:sub(i - 1, i - 1):find([=[[%s%(%[{<"'`]]=])) then
      at = i
    end
  end
  if not at then
    return nil
  end
  local typed = line:sub(at + 1)
  if typed:sub(1, 1) == '"' then
    local close = typed:find('"', 2, true)
    return (not close or not typed:find('%s', close)) and at or nil
  end
  return not typed:find('%s') and at or nil
end

-- names are the prompts of a pod whose names begin with a text, each with its slash.
function M.names(pod, start)
  local err, r = bridge.call('ListPrompts', { pod = pod })
  local list = {}
  for _, p in ipairs(err and {} or r.prompts) do
    if vim.startswith('/' .. p.name, start) then
      list[#list + 1] = { word = '/' .. p.name, menu = vim.trim((p.arguments or '') .. '  ' .. p.about) }
    end
  end
  return list
end

-- naming says that the name of a prompt is completed.
local naming = false

-- complete is 'omnifunc' and 'completefunc'.
function M.complete(findstart, base)
  if findstart == 1 then
    local row, column = unpack(vim.api.nvim_win_get_cursor(0))
    local line = vim.api.nvim_get_current_line():sub(1, column)
    naming = row == 1 and line:find('^/%S*$') ~= nil
    return naming and 0 or M.start_of(line) or -3
  end
  if naming then
    return M.names(pods[vim.api.nvim_get_current_buf()], base)
  end
  local err, r = bridge.call('CompletePath', { pod = pods[vim.api.nvim_get_current_buf()], prefix = base })
  -- What is typed next is a new question: a few letters of a path need not be its beginning.
  return err and {} or { words = r.paths, refresh = 'always' }
end

local function send(buf)
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  local sent = images[buf] or {}
  local segments = vim.list_slice(sent)
  if text:find('%S') then
    table.insert(segments, 1, { text = { text = text } })
  end
  if #segments == 0 then
    return require('podd').say('the prompt is empty')
  end
  vim.bo[buf].modified = false
  require('podd.submit').send(pods[buf], segments, false, function()
    if images[buf] == sent then
      images[buf] = nil
    end
    if vim.api.nvim_buf_is_valid(buf) and table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n') == text then
      vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
      vim.bo[buf].modified = false
    end
  end)
end

-- here says whether the current buffer is a prompt.
function M.here()
  return pods[vim.api.nvim_get_current_buf()] ~= nil
end

-- attach adds an image file to the current prompt; without a path the prompt has none any more.
function M.attach(path)
  local podd, buf = require('podd'), vim.api.nvim_get_current_buf()
  if path == '' then
    images[buf] = nil
    return podd.say('the prompt has no images')
  end
  local segment, why = require('podd.image').read(path)
  if not segment then
    return podd.say(why, vim.log.levels.ERROR)
  end
  images[buf] = vim.list_extend(vim.list_slice(images[buf] or {}), { segment })
  podd.say(('%s goes with the prompt (%d); :Podd image takes all back'):format(segment.image.name, #images[buf]))
end

-- open shows the prompt of a pod, ready to be typed into.
function M.open(pod)
  vim.cmd('startinsert!')
  vim.cmd('keepalt botright 8split ' .. vim.fn.fnameescape('podd://' .. pod .. '/prompt'))
  local buf = vim.api.nvim_get_current_buf()
  if pods[buf] then
    return
  end
  pods[buf] = pod
  vim.bo[buf].buftype, vim.bo[buf].swapfile, vim.bo[buf].bufhidden = 'acwrite', false, 'hide'
  vim.bo[buf].filetype = 'markdown'
  vim.bo[buf].omnifunc = "v:lua.require'podd.prompt'.complete"
  vim.bo[buf].completefunc = vim.bo[buf].omnifunc
  vim.api.nvim_create_autocmd('BufWriteCmd', { buffer = buf, callback = function() send(buf) end })
  vim.api.nvim_create_autocmd('BufWipeout', { buffer = buf, callback = function() pods[buf], images[buf] = nil, nil end })
  vim.keymap.set({ 'n', 'i' }, '<C-s>', function() send(buf) end, { buffer = buf })
end

return M
