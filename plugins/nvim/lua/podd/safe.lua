-- Text from models, tools and files as text that is safe to show: characters that would
-- hide or reorder text or control a terminal become visible escapes such as \x1b or
-- \u202e. The rules are those of podctl.
local M = {}

-- Ranges of characters that are invisible, or that change the text around them.
local hidden = {
  { 0x00, 0x08 }, { 0x0b, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x34f, 0x34f }, { 0x61c, 0x61c },
  { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
  { 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xd800, 0xdfff }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },
  { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x13430, 0x1345f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
  { 0xe0000, 0xe0fff }, { 0x110000, 0x7fffffff },
}

local function is_hidden(c)
  for _, r in ipairs(hidden) do
    if c < r[1] then
      return false
    end
    if c <= r[2] then
      return true
    end
  end
  return false
end

local function symbol(c)
  return c >= 0x1f000 and c <= 0x1faff or c >= 0x2190 and c <= 0x2bff
end

-- decode returns the character at a byte and the byte after it; nil if it is invalid.
local function decode(s, i)
  local b = s:byte(i)
  if b < 0x80 then
    return b, i + 1
  end
  local n, c, least
  if b >= 0xc2 and b < 0xe0 then
    n, c, least = 1, b % 0x20, 0x80
  elseif b >= 0xe0 and b < 0xf0 then
    n, c, least = 2, b % 0x10, 0x800
  elseif b >= 0xf0 and b < 0xf5 then
    n, c, least = 3, b % 0x08, 0x10000
  else
    return nil, i + 1
  end
  for k = 1, n do
    local t = s:byte(i + k)
    if not t or t < 0x80 or t >= 0xc0 then
      return nil, i + 1
    end
    c = c * 0x40 + t % 0x40
  end
  if c < least or c > 0x10ffff or c >= 0xd800 and c <= 0xdfff then
    return nil, i + 1
  end
  return c, i + n + 1
end

local function escape(c)
  if c == 0x0d then
    return '\\r'
  elseif c < 0x80 then
    return ('\\x%02x'):format(c)
  elseif c <= 0xffff then
    return ('\\u%04x'):format(c)
  end
  return ('\\U%08x'):format(c)
end

-- line is one safe line; newlines become \n. The second value counts the escapes.
function M.line(s)
  s = tostring(s or '')
  if not s:find('[^\t\32-\126]') then
    return s, 0
  end
  local out, count, i, prev = {}, 0, 1, 0
  while i <= #s do
    local c, next = decode(s, i)
    if not c then
      out[#out + 1], count, prev = ('\\x%02x'):format(s:byte(i)), count + 1, 0
    elseif c == 0x0a then
      out[#out + 1], count, prev = '\\n', count + 1, 0
    elseif
      is_hidden(c)
      and not ((c == 0xfe0e or c == 0xfe0f) and (symbol(prev) or prev >= 0x30 and prev <= 0x39))
      and not (c == 0x200d and (symbol(prev) or prev == 0xfe0f) and symbol(decode(s .. ' ', next) or 0))
    then
      out[#out + 1], count, prev = escape(c), count + 1, 0
    else
      out[#out + 1], prev = s:sub(i, next - 1), c
    end
    i = next
  end
  return table.concat(out), count
end

-- lines is text as a list of safe lines, and the number of escapes. CR LF counts as a
-- newline; newlines at the end are dropped.
function M.lines(s)
  s = tostring(s or ''):gsub('\r\n', '\n'):gsub('\n+$', '')
  local out, count = {}, 0
  for part in (s .. '\n'):gmatch('([^\n]*)\n') do
    local text, n = M.line(part)
    out[#out + 1], count = text, count + n
  end
  return out, count
end

return M
