-- The arguments of a tool call as lines for people, complete and in order. Lua's tables have
-- no order and its numbers are not exact, so this file parses the outer object itself.
local safe = require('podd.safe')
local M = {}

-- value_end is the last byte of the JSON value that begins at i.
local function value_end(s, i)
  local depth, in_string = 0, false
  while i <= #s do
    local c = s:sub(i, i)
    if in_string then
      if c == '\\' then
        i = i + 1
      elseif c == '"' then
        in_string = false
        if depth == 0 then
          return i
        end
      end
    elseif c == '"' then
      in_string = true
    elseif c == '{' or c == '[' then
      depth = depth + 1
    elseif c == '}' or c == ']' then
      if depth == 0 then
        return i - 1
      end
      depth = depth - 1
      if depth == 0 then
        return i
      end
    elseif c == ',' and depth == 0 then
      return i - 1
    end
    i = i + 1
  end
  return nil
end

-- parts are the fields of an object as { name, raw value }; nil for anything else.
local function parts(raw)
  if not pcall(vim.json.decode, raw) or not raw:match('^%s*{') then
    return nil
  end
  local list, i = {}, raw:find('{') + 1
  while true do
    i = raw:find('[^%s,]', i)
    if not i or raw:sub(i, i) == '}' then
      return list
    end
    local close = value_end(raw, i)
    local colon = close and raw:find(':', close + 1)
    local start = colon and raw:find('%S', colon + 1)
    local stop = start and value_end(raw, start)
    if not stop then
      return nil
    end
    list[#list + 1] = { vim.json.decode('[' .. raw:sub(i, close) .. ']')[1], vim.trim(raw:sub(start, stop)) }
    i = stop + 1
  end
end

-- lines shows each argument by its name; a text of several lines follows | marks. The second
-- value counts hidden characters.
function M.lines(raw)
  local out, count = {}, 0
  local function add(name, text)
    local list, n = safe.lines(text)
    count = count + n
    if #list == 1 then
      out[#out + 1] = name .. list[1]
      return
    end
    if name ~= '' then
      out[#out + 1] = vim.trim(name)
    end
    for _, line in ipairs(list) do
      out[#out + 1] = '| ' .. line
    end
  end
  local list = parts(raw)
  if not list then
    add('', raw)
    return out, count
  end
  for _, p in ipairs(list) do
    local name, n = safe.line(p[1])
    count = count + n
    local text = p[2]
    if text:sub(1, 1) == '"' then
      text = vim.json.decode('[' .. text .. ']')[1]
    end
    add(name .. ': ', text)
  end
  return out, count
end

-- brief is the call's arguments in one line.
function M.brief(raw)
  local list = parts(raw)
  local text = raw
  if list and list[1] then
    text = list[1][2]
    if text:sub(1, 1) == '"' then
      text = vim.json.decode('[' .. text .. ']')[1]
    end
  elseif list then
    text = ''
  end
  text = safe.line(text)
  if #text > 100 then
    text = vim.fn.strcharpart(text, 0, 90) .. '…'
  end
  return text
end

return M
