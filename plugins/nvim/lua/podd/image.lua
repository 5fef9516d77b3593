-- Images of a prompt: files of the editor's machine, sent as they are.
local M = {}

-- podd accepts this many bytes of images in a prompt.
local MOST = 10 * 1024 * 1024

local alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
-- pairs_of has the two characters of each number of 12 bits.
local pairs_of = {}

-- base64 encodes bytes. Neovim has had a function for this since 0.10.
local function base64(data)
  if not pairs_of[0] then
    for n = 0, 4095 do
      local high, low = math.floor(n / 64) + 1, n % 64 + 1
      pairs_of[n] = alphabet:sub(high, high) .. alphabet:sub(low, low)
    end
  end
  local out, n = {}, 0
  for i = 1, #data - 2, 3 do
    local a, b, c = data:byte(i, i + 2)
    out[n + 1] = pairs_of[a * 16 + math.floor(b / 16)]
    out[n + 2] = pairs_of[b % 16 * 256 + c]
    n = n + 2
  end
  local a, b = data:byte(#data - #data % 3 + 1, #data)
  if b then
    out[n + 1] = pairs_of[a * 16 + math.floor(b / 16)] .. pairs_of[b % 16 * 256]:sub(1, 1) .. '='
  elseif a then
    out[n + 1] = pairs_of[a * 16] .. '=='
  end
  return table.concat(out)
end

-- read is an image file as a segment; nil and a sentence if it cannot be sent. podd looks at what it is.
function M.read(path)
  local at = path:gsub('^~/', function() return vim.loop.os_homedir() .. '/' end)
  local stat, why = vim.loop.fs_stat(at)
  if not stat then
    -- "ENOENT: no such file or directory: PATH"
    return nil, ('cannot read %s: %s'):format(path, why:match('^%u+: (.-): ') or why)
  elseif stat.type == 'directory' then
    return nil, ('cannot read %s: it is a directory'):format(path)
  elseif stat.size > MOST then
    return nil, ('%s is too large: the images of a prompt can have 10 MiB together'):format(path)
  end
  local file, refused = io.open(at, 'rb')
  local data = file and file:read('*a')
  if file then
    file:close()
  end
  if not data then
    return nil, ('cannot read %s: %s'):format(path, refused or 'it is not a file')
  elseif data == '' then
    return nil, path .. ' is empty'
  end
  return { image = { data = base64(data), name = vim.fn.fnamemodify(at, ':t') } }
end

-- split divides the arguments of :Podd image: a path, in which a backslash stands before each
-- space, and a text.
function M.split(arguments)
  local path, rest = '', arguments
  while true do
    local part, after = rest:match('^([^%s\\]+)(.*)$')
    if not part then
      part, after = rest:match('^\\(.)(.*)$')
    end
    if not part then
      return path, vim.trim(rest)
    end
    path, rest = path .. part, after
  end
end

-- complete completes the path of an image.
function M.complete(start)
  local found = vim.fn.getcompletion((start:gsub('\\(.)', '%1')), 'file')
  return vim.tbl_map(function(path) return (path:gsub('[\\ ]', '\\%0')) end, found)
end

return M
