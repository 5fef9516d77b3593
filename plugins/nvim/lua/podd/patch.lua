-- Reads the patch of apply_patch, only to show it: podd decides what it means.
local M = {}

-- place is the line where a hunk applies; nil if it fits nowhere.
local function place(lines, h, from)
  if #h.old == 0 then
    return (h.at_end or #h.headers == 0) and #lines + 1 or from
  end
  local last = #lines - #h.old + 1
  for at = h.at_end and math.max(last, from) or from, last do
    local fits = true
    for i, l in ipairs(h.old) do
      fits = fits and lines[at + i - 1] == l
    end
    if fits then
      return at
    end
  end
end

-- below is the line after the headers of a hunk; nil if one is missing.
local function below(lines, h, from)
  for _, header in ipairs(h.headers) do
    local at
    for i = from, #lines do
      at = at or (vim.trim(lines[i]) == header and i) or nil
    end
    if not at then
      return nil
    end
    from = at + 1
  end
  return from
end

-- patched is a text after hunks that fit it exactly; nil if one does not.
local function patched(before, hunks)
  local crlf = before:find('\r\n', 1, true)
  local lines = before == '' and {} or vim.split((before:gsub('\r\n', '\n'):gsub('\n$', '')), '\n', { plain = true })
  local from = 1
  for _, h in ipairs(hunks) do
    from = below(lines, h, from)
    local at = from and place(lines, h, from)
    if not at then
      return nil
    end
    local rest = vim.list_slice(lines, at + #h.old)
    lines = vim.list_extend(vim.list_extend(vim.list_slice(lines, 1, at - 1), h.new), rest)
    from = at + #h.new
  end
  local out = table.concat(vim.tbl_map(function(l) return l .. '\n' end, lines))
  return crlf and (out:gsub('\n', '\r\n')) or out
end

-- add adds a line of a patch to a hunk.
local function add(h, line)
  local op = line:sub(1, 1)
  if line == '' then
    h.gap = h.gap + 1
  elseif vim.startswith(line, '*** End of File') then
    h.at_end = true
  elseif op == '@' then
    local header = vim.trim((line:sub(3):gsub('^ %-%d+[,%d]* %+%d+[,%d]* @@', '')))
    h.headers[#h.headers + 1] = header ~= '' and header or nil
  elseif op == ' ' or op == '-' or op == '+' then
    for _ = 1, h.gap do
      h.old[#h.old + 1], h.new[#h.new + 1] = '', ''
    end
    h.gap = 0
    if op ~= '+' then
      h.old[#h.old + 1] = line:sub(2)
    end
    if op ~= '-' then
      h.new[#h.new + 1] = line:sub(2)
    end
  end
end

-- changes are what a patch makes of each file: { path, to, after }, where after is a function
-- of the text before.
function M.changes(patch)
  local list, verb, added, hunks = {}, nil, nil, nil
  for _, line in ipairs(vim.split((patch:gsub('\r\n', '\n')), '\n', { plain = true })) do
    local new, path = line:match('^%*%*%* (%u%l+) File: *(.-)%s*$')
    local to = line:match('^%*%*%* Move to: *(.-)%s*$')
    if new == 'Add' or new == 'Update' or new == 'Delete' then
      local lines, own = {}, {}
      verb, added, hunks = new, lines, own
      list[#list + 1] = { path = path, to = path, after = function(before)
        if new == 'Update' then
          return patched(before, own)
        end
        return table.concat(vim.tbl_map(function(l) return l .. '\n' end, lines))
      end }
    elseif to and #list > 0 then
      list[#list].to = to
    elseif verb == 'Add' and line:sub(1, 1) == '+' then
      added[#added + 1] = line:sub(2)
    elseif verb == 'Update' and not vim.startswith(line, '*** End Patch') then
      local h = hunks[#hunks]
      if not h or line:sub(1, 2) == '@@' and #h.old + #h.new > 0 then
        h = { headers = {}, old = {}, new = {}, gap = 0, at_end = false }
        hunks[#hunks + 1] = h
      end
      add(h, line)
    end
  end
  return list
end

return M
