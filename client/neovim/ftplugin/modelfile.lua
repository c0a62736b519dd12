-- How Modelfiles are edited.
if vim.b.did_ftplugin then
  return
end
vim.b.did_ftplugin = 1

vim.bo.commentstring = '# %s'
-- A comment is the first of its line; behind a value it would be a part of that.
vim.bo.comments = ':#'
-- Nor may a long value be broken: without quotes it ends with its line.
vim.opt_local.formatoptions:remove('t')

local undo = 'setlocal commentstring< comments< formatoptions<'
local before = vim.b.undo_ftplugin
vim.b.undo_ftplugin = before and (before .. ' | ' .. undo) or undo
