-- Editing of Modelfiles.
if vim.b.did_ftplugin then
  return
end
vim.b.did_ftplugin = 1

vim.bo.commentstring = '# %s'
-- A comment must begin its line; after a value it would be a part of the value.
vim.bo.comments = ':#'
-- A long value must not be wrapped: without quotes it ends with its line.
vim.opt_local.formatoptions:remove('t')

local undo = 'setlocal commentstring< comments< formatoptions<'
local before = vim.b.undo_ftplugin
vim.b.undo_ftplugin = before and (before .. ' | ' .. undo) or undo
