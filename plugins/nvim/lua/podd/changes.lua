-- What a pod changed in files: shown as a diff, and taken back.
local bridge = require('podd.bridge')
local safe = require('podd.safe')
local M = {}

-- title says what became of a file.
local function title(f)
  local verb = f.before == '' and 'made' or f.after == '' and 'deleted' or 'changed'
  local kind = f.after ~= '' and f.after or f.before
  local text = ('%s%s %s'):format(verb, kind == 'file' and '' or ' ' .. kind, f.path)
  return f.mode ~= '' and ('%s, mode %s'):format(text, f.mode) or text
end

-- lines are a changed file in a unified diff.
local function lines(f)
  if f.diff == '' then
    return { safe.line(title(f)) }
  end
  local out = {
    '--- ' .. safe.line(f.before == '' and '/dev/null' or f.path),
    '+++ ' .. safe.line(f.after == '' and '/dev/null' or f.path),
  }
  return vim.list_extend(out, (safe.lines(f.diff)))
end

-- show puts the changed files of a pod into a window.
local function show(pod, files)
  local out, others = {}, false
  for _, f in ipairs(files) do
    if f.by == 'CHECKPOINT_BY_PERSON' and not others then
      others = true
      vim.list_extend(out, { '', 'others changed meanwhile:' })
    end
    vim.list_extend(out, lines(f))
  end
  local buf = require('podd.command').show(('what pod %s changed in files'):format(pod), out)
  vim.bo[buf].filetype = 'diff'
end

-- diff shows what the pod changed, in a turn or in the last one that changed files.
function M.diff(pod, turn)
  local podd = require('podd')
  if turn ~= '' and not turn:match('^[1-9]%d*$') then
    return podd.say(('%s is not the number of a turn: the stream shows them'):format(turn), vim.log.levels.ERROR)
  end
  local files = {}
  bridge.stream('DiffFiles', { pod = pod, turn = turn ~= '' and turn or nil }, function(m)
    if m.restarted then
      files = {}
    elseif m.file then
      files[#files + 1] = m.file
    elseif m['end'] and m['end'].error then
      podd.fail(m['end'].error)
    elseif m['end'] and #files == 0 then
      podd.say('nothing changed')
    elseif m['end'] then
      show(pod, files)
    end
  end)
end

local function paths(n)
  return tonumber(n) == 1 and '1 path' or ('%s paths'):format(n)
end

-- question asks whether to take changes back.
local function question(r)
  local what = r.turn ~= '0' and ('the changes of turn %s'):format(r.turn) or 'the last undo'
  local text = ('Take back %s in %s?'):format(what, paths(r.changed))
  for _, k in ipairs(r.kept) do
    text = ('%s %s stays: it %s.'):format(text, safe.line(k.path), safe.line(k.why))
  end
  if r.head_moved then
    text = text .. ' HEAD moved meanwhile and stays: see git reflog.'
  end
  return text
end

-- undo takes back what the pod changed in files, once a person agrees.
function M.undo(pod)
  local podd = require('podd')
  bridge.request('RestoreFiles', { pod = pod, dry_run = true }, function(err, r)
    if err then
      return podd.fail(err)
    elseif r.changed == '0' then
      local why = #r.kept == 0 and 'no file has changes to take back' or ('%s stays: it %s'):format(r.kept[1].path, r.kept[1].why)
      return podd.say(why)
    end
    vim.ui.select({ 'Take back', 'Cancel' }, { prompt = question(r) }, function(chosen)
      if chosen ~= 'Take back' then
        return
      end
      bridge.request('RestoreFiles', { pod = pod, after_seq = r.after_seq, skip = #r.kept > 0 }, function(failed, done)
        if failed then
          return podd.fail(failed)
        end
        vim.cmd('silent! checktime')
        podd.say(('took back changes in %s'):format(paths(done.changed)))
      end)
    end)
  end)
end

return M
