-- Where the Markdown of an answer has its parts, for colours. The text itself stays as it is.
local M = {}

-- languages are names that fences use for languages whose parser has another name.
local languages = { js = 'javascript', ts = 'typescript', py = 'python', rs = 'rust', sh = 'bash', shell = 'bash', yml = 'yaml', cs = 'c_sharp', golang = 'go' }

-- parsed is the tree and the highlights of some code; nil where Neovim has no parser or no
-- highlights of its language.
local function parsed(code, lang)
  local ts = vim.treesitter
  local get = ts and (ts.query and ts.query.get or ts.get_query)
  if not get or lang == '' then
    return nil
  end
  local ok, tree, query = pcall(function()
    return ts.get_string_parser(code, lang):parse()[1], get(lang, 'highlights')
  end)
  if ok and query then
    return tree, query
  end
end

-- group is the highlight group of a capture. Neovim 0.7 has no groups of the names of captures.
local function group(capture, lang)
  if vim.fn.has('nvim-0.8') == 1 then
    return '@' .. capture .. '.' .. lang
  end
  local map = vim.treesitter.highlighter.hl_map
  while capture and not rawget(map, capture) do
    capture = capture:match('^(.*)%.[^.]*$')
  end
  return capture and map[capture]
end

-- code colours the lines of a fence from a line on, by the parser of its language.
local function code(out, lines, first, last, lang)
  lang = languages[lang] or lang
  local tree, query = parsed(table.concat(lines, '\n', first, last), lang)
  if not tree then
    return
  end
  local text = table.concat(lines, '\n', first, last)
  for id, node in query:iter_captures(tree:root(), text, 0, last - first + 1) do
    local hl = not query.captures[id]:find('^_') and group(query.captures[id], lang)
    local row, from, to_row, to = node:range()
    for r = row, hl and math.min(to_row, last - first) or row - 1 do
      local line = lines[first + r]
      local a, b = r == row and from or 0, r == to_row and to or #line
      if b > a then
        table.insert(out[first + r], { a, b, hl })
      end
    end
  end
end

-- spans are the inline parts of a line: code first, since nothing else counts within it.
local spans = {
  { '()(`+)[^`]+%2()', 'PoddCode' },
  { '()%*%*[^%s*][^*]-%*%*()', 'PoddStrong' },
  { '()__[^%s_][^_]-__()', 'PoddStrong', '[%w_]' },
  { '()%*[^%s*][^*]-%*()', 'PoddEmphasis' },
  { '()_[^%s_][^_]-_()', 'PoddEmphasis', '[%w_]' },
  { '()%[[^%]]+%]%([^)%s]+%)()', 'PoddLink' },
  { '()https?://[^%s)>%]]+()', 'PoddLink' },
}

local function inline(out, line)
  local rest = line
  for _, s in ipairs(spans) do
    local at = 1
    while true do
      local from, a, b = rest:match(s[1], at)
      local to = b or a
      if not from then
        break
      end
      at = to
      -- Words such as snake_case_names have no emphasis.
      if not (s[3] and (rest:sub(from - 1, from - 1):find(s[3]) or rest:sub(to, to):find(s[3]))) then
        out[#out + 1] = { from - 1, to - 1, s[2] }
        rest = rest:sub(1, from - 1) .. ('\1'):rep(to - from) .. rest:sub(to)
      end
    end
  end
end

-- marks are the parts of each line as a list of { from, to, highlight group }, in bytes from 0.
-- While a text grows, its code has one colour.
function M.marks(lines, grows)
  local out, fence, lang, first = {}, nil, nil, nil
  for i, line in ipairs(lines) do
    out[i] = {}
    local mark, info = line:match('^%s*([`~][`~][`~]+)%s*([^`]*)$')
    local closes = fence and mark and info == '' and mark:sub(1, #fence) == fence
    if fence or mark then
      out[i][1] = { 0, #line, 'PoddCode' }
    end
    if closes then
      if not grows then
        code(out, lines, first, i - 1, lang)
      end
      fence = nil
    elseif not fence and mark then
      fence, lang, first = mark, (info:match('^[%w_+#-]+') or ''):lower(), i + 1
    elseif not fence then
      local head, bullet = line:match('^%s?%s?%s?#+%s'), line:match('^%s*[-*+]%s()') or line:match('^%s*%d+[.)]%s()')
      if head then
        out[i][1] = { 0, #line, 'PoddHeading' }
      elseif line:match('^%s*>') then
        out[i][1] = { 0, #line, 'PoddQuote' }
      elseif bullet then
        out[i][1] = { 0, bullet - 1, 'PoddBullet' }
      end
      inline(out[i], bullet and (' '):rep(bullet - 1) .. line:sub(bullet) or line)
    end
  end
  return out
end

return M
