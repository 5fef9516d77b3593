-- Questions of running calls: what they ask, and a person's answers.
local bridge = require('podd.bridge')
local safe = require('podd.safe')
local M = {}

-- What stands behind the options.
local OTHER, LEAVE, DONE = 'other…', 'let the model decide', 'done'

-- title is a question with its header, and with its number if there are several.
local function title(f, i)
  local q = f.questions[i]
  local text = q.header ~= '' and ('%s: %s'):format(q.header, q.text) or q.text
  return #f.questions > 1 and ('Question %d, %s'):format(i, text) or text
end

local function option(o)
  return o.description ~= '' and ('%s: %s'):format(o.label, o.description) or o.label
end

-- lines are a form as safe lines of text.
function M.lines(f)
  local out = {}
  local function add(indent, text)
    for _, line in ipairs((safe.lines(text))) do
      out[#out + 1] = indent .. line
    end
  end
  if f.from ~= '' then
    add('  ', f.from .. ' asks:')
  end
  if f.text ~= '' then
    add('  ', f.text)
  end
  for i, q in ipairs(f.questions) do
    add('  ', title(f, i))
    for n, o in ipairs(q.options) do
      add('    ', ('%d. %s'):format(n, option(o)))
    end
  end
  return out
end

-- resolve sends an answer to what was shown.
local function resolve(a, how)
  how.pod, how.call_seq, how.digest, how.client = a.pod, a.call_seq, a.digest, 'nvim'
  bridge.request('ResolveApproval', how, function(err)
    if err then
      require('podd').fail(err)
    end
  end)
end

-- dismiss leaves a form to the model.
function M.dismiss(a)
  resolve(a, { dismiss = true })
end

-- later leaves a form waiting.
local function later(a)
  require('podd').say(('pod %s still waits for your answer: :Podd approvals'):format(a.pod_name))
end

-- write asks for a text; back is called without one.
local function write(q, reply, back)
  vim.ui.input({ prompt = safe.line(q.text) .. ' ' }, function(text)
    if text and vim.trim(text) ~= '' then
      return reply({ text = text })
    end
    back()
  end)
end

-- choose offers the options of question i. chosen are the numbers of those that are taken already.
local function choose(a, i, chosen, reply)
  local q, items = a.form.questions[i], {}
  for n, o in ipairs(q.options) do
    local mark = not q.multiple and '' or vim.tbl_contains(chosen, n) and '[x] ' or '[ ] '
    items[n] = { n = n, text = mark .. safe.line(option(o)) }
  end
  if #chosen > 0 then
    items[#items + 1] = { what = DONE, text = DONE }
  end
  for _, what in ipairs({ OTHER, LEAVE }) do
    items[#items + 1] = { what = what, text = what }
  end
  vim.ui.select(items, { prompt = safe.line(title(a.form, i)), format_item = function(o) return o.text end }, function(o)
    if not o then
      later(a)
    elseif o.what == LEAVE then
      M.dismiss(a)
    elseif o.what == DONE then
      reply({ choices = chosen })
    elseif o.what == OTHER then
      write(q, function(r)
        reply({ choices = #chosen > 0 and chosen or nil, text = r.text })
      end, function() choose(a, i, chosen, reply) end)
    elseif not q.multiple then
      reply({ choices = { o.n } })
    else
      local now = vim.tbl_filter(function(n) return n ~= o.n end, chosen)
      if #now == #chosen then
        now[#now + 1] = o.n
      end
      choose(a, i, now, reply)
    end
  end)
end

-- answer asks one question after the other, and sends the answers together.
function M.answer(a, replies)
  replies = replies or {}
  local i = #replies + 1
  local q = a.form.questions[i]
  local function reply(r)
    replies[i] = r
    M.answer(a, replies)
  end
  if q and #q.options > 0 then
    return choose(a, i, {}, reply)
  elseif q then
    return write(q, reply, function() later(a) end)
  elseif i > 1 then
    return resolve(a, { approve = true, replies = replies })
  end
  vim.ui.select({ 'yes', LEAVE }, { prompt = safe.line(a.form.text) }, function(_, n)
    if n then
      resolve(a, n == 1 and { approve = true } or { dismiss = true })
    else
      later(a)
    end
  end)
end

return M
