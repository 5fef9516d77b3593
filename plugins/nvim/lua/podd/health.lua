-- :checkhealth podd
local M = {}

-- The names of these functions changed with Neovim 0.10.
local health = vim.health or require('health')
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local warn = health.warn or health.report_warn
local bad = health.error or health.report_error

-- servers reports the MCP servers of the current directory.
local function servers()
  local bridge, safe = require('podd.bridge'), require('podd.safe')
  local err, r = bridge.call('ListMcpServers', { dir = vim.fn.getcwd() }, 5000)
  if err then
    return warn(safe.line(err.message))
  end
  if r.note ~= '' then
    warn(safe.line(r.note))
  end
  for _, s in ipairs(r.servers) do
    local name = 'MCP server ' .. safe.line(s.name)
    local changed = vim.tbl_filter(function(t) return t.changed end, s.tools)
    if s.sign_in == 'needed' then
      warn(name .. ' needs you to sign in', { 'podctl mcp login ' .. safe.line(s.name) })
    elseif s.error ~= '' then
      warn(name .. ': ' .. safe.line(s.error), { 'podctl mcp test ' .. safe.line(s.name) })
    elseif #changed > 0 then
      warn(('%s has changed %d of its tools'):format(name, #changed), { 'podctl mcp accept ' .. safe.line(s.name) })
    else
      ok(('%s is %s, with %d tools'):format(name, safe.line(s.state), #s.tools))
    end
  end
end

function M.check()
  local podd, bridge, safe = require('podd'), require('podd.bridge'), require('podd.safe')
  start('podd')
  if vim.fn.has('nvim-0.7') == 1 then
    ok('Neovim is 0.7 or later')
  else
    bad('Neovim is older than 0.7')
  end
  if vim.fn.executable(podd.config.podctl) == 0 then
    return bad(podd.config.podctl .. ' is not in PATH', { "install podctl, or set its path with require('podd').setup({ podctl = ... })" })
  end
  ok(podd.config.podctl .. ' is ' .. vim.fn.exepath(podd.config.podctl))
  local err, status = bridge.call('GetStatus', {}, 5000)
  local hello = bridge.hello()
  if not hello then
    return bad('podctl bridge does not answer: ' .. safe.line((bridge.connection().error or err or {}).message), { 'install a podctl that has the bridge command' })
  end
  ok('podctl is ' .. safe.line(hello.version) .. ' with bridge protocol ' .. hello.protocol)
  if err then
    return bad(safe.line(err.message))
  end
  ok('podd is ' .. safe.line(status.version) .. ', at ' .. safe.line(hello.socket))
  if status.has_key or not status.base_url:find('api.openai.com', 1, true) then
    ok('the model endpoint is ' .. safe.line(status.base_url))
  else
    warn('podd has no key for ' .. safe.line(status.base_url), { 'set OPENAI_API_KEY in the environment of podd, or api_key_file in its config.toml' })
  end
  servers()
end

return M
