-- Defines :Podd and the loading of podd:// buffers; everything else is loaded on first use.
if vim.g.loaded_podd then
  return
end
vim.g.loaded_podd = true

if vim.fn.has('nvim-0.7') == 0 then
  vim.api.nvim_echo({ { 'podd needs Neovim 0.7 or later', 'WarningMsg' } }, true, {})
  return
end

vim.api.nvim_create_user_command('Podd', function(o)
  require('podd.command').run(o)
end, {
  nargs = '*',
  range = true,
  desc = 'control podd, which hosts LLM agents as pods',
  complete = function(...)
    return require('podd.command').complete(...)
  end,
})

local group = vim.api.nvim_create_augroup('podd', {})
-- For `nvim podd://NAME`, and for a session that had such a buffer.
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'podd://*',
  callback = function(o)
    require('podd.stream').load(o.buf, o.match)
  end,
})

for name, link in pairs({
  PoddHead = 'Title',
  PoddTool = 'Function',
  PoddError = 'ErrorMsg',
  PoddWarn = 'WarningMsg',
  PoddNote = 'Comment',
  PoddAsk = 'Question',
  PoddHeading = 'Title',
  PoddCode = 'String',
  PoddQuote = 'Comment',
  PoddBullet = 'Special',
  PoddLink = 'Underlined',
}) do
  vim.cmd(('highlight default link %s %s'):format(name, link))
end
vim.cmd('highlight default PoddStrong cterm=bold gui=bold')
vim.cmd('highlight default PoddEmphasis cterm=italic gui=italic')
