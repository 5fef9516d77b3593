-- :Podd model and :Podd effort.
local bridge = require('podd.bridge')
local M = {}

local function podd()
  return require('podd')
end

-- settings are what a pod asks its model with, by name.
local function settings(r)
  local now = {}
  for _, s in ipairs(r.model_settings or {}) do
    now[s.name] = s
  end
  return now
end

-- offered are the models that podd lists, by name.
local function offered(r)
  local models, names = {}, {}
  for _, e in ipairs(r.endpoints or {}) do
    for _, m in ipairs(e.models or {}) do
      models[m.name] = m
      names[#names + 1] = m.name
    end
  end
  return models, names
end

-- known are the efforts that a model is known to take.
local function known(models, now)
  local at = now.endpoint and now.model and models[now.endpoint.value .. '/' .. now.model.value]
  return at and #at.effort > 0 and at.effort or { 'low', 'medium', 'high' }
end

-- set changes a field of the pod's spec.
local function set(pod, field, spec, said)
  bridge.request('UpdatePod', { pod = pod, spec = spec, update_mask = field }, function(err, r)
    if err then
      return podd().fail(err)
    end
    for _, text in ipairs(r.warnings or {}) do
      podd().say(text, vim.log.levels.WARN)
    end
    podd().say(said)
  end)
end

local function set_model(pod, name)
  set(pod, 'model', { model = name }, name == '' and ("pod %s follows podd's model"):format(pod) or ('pod %s asks %s from the next turn on'):format(pod, name))
end

local function set_effort(pod, value)
  set(pod, 'options.effort', { options = { effort = value } },
    value == '' and ("pod %s follows podd's effort"):format(pod) or ('pod %s asks with effort %s from the next turn on'):format(pod, value))
end

-- choose lets the person choose one of some values; default follows podd.
local function choose(values, prompt, now, f)
  table.insert(values, 1, 'default')
  vim.ui.select(values, { prompt = prompt .. (now and (' (now %s, from %s)'):format(now.value, now.source) or ''), format_item = require('podd.safe').line }, function(value)
    if value then
      f(value == 'default' and '' or value)
    end
  end)
end

-- run is a subcommand: it sets a value, or lists those to choose from.
local function run(value, how)
  podd().with_pod(false, function(pod)
    if value ~= '' then
      return how.set(pod, value == 'default' and '' or value)
    end
    bridge.request('ListModels', {}, function(err, listed)
      if err then
        return podd().fail(err)
      end
      bridge.request('GetPod', { pod = pod, model_settings = true }, function(wrong, r)
        if wrong then
          return podd().fail(wrong)
        end
        local models, names = offered(listed)
        local now = settings(r)
        choose(how.values(models, names, now), how.prompt:format(pod), now[how.name], function(chosen) how.set(pod, chosen) end)
      end)
    end)
  end)
end

-- model is :Podd model [NAME].
function M.model(_, name)
  run(name, { name = 'model', prompt = 'Model of pod %s', set = set_model, values = function(_, names) return names end })
end

-- efforts are those that the pod's model is known to take, and the one that it has.
local function efforts(models, _, now)
  local values = vim.deepcopy(known(models, now))
  if now.effort and now.effort.value ~= '' and not vim.tbl_contains(values, now.effort.value) then
    table.insert(values, now.effort.value)
  end
  return values
end

-- effort is :Podd effort [VALUE].
function M.effort(_, value)
  run(value, { name = 'effort', prompt = 'Effort of pod %s', set = set_effort, values = efforts })
end

-- complete completes a subcommand's value.
function M.complete(verb)
  local err, r = bridge.call('ListModels', {})
  if err then
    return {}
  end
  local models, names = offered(r)
  if verb == 'model' then
    return vim.list_extend({ 'default' }, names)
  end
  local seen, values = {}, { 'default' }
  for _, name in ipairs(names) do
    for _, effort in ipairs(models[name].effort) do
      if not seen[effort] then
        seen[effort], values[#values + 1] = true, effort
      end
    end
  end
  return #values > 1 and values or { 'default', 'low', 'medium', 'high' }
end

return M
