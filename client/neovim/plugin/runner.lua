-- Only defines the commands. Their modules are loaded on first use.
if vim.g.loaded_runner or not vim.api.nvim_create_user_command then
  return
end
vim.g.loaded_runner = true

local command = vim.api.nvim_create_user_command

command('RunnerChat', function(arguments)
  require('runner').chat(arguments)
end, {
  nargs = '*',
  bang = true,
  range = true,
  desc = 'Opens the chat, with ! a fresh one; with a prompt, sends it; with a range, sends its lines along',
})

command('RunnerEdit', function(arguments)
  require('runner').edit(arguments)
end, {
  nargs = '*',
  range = true,
  desc = 'Changes lines, or what the cursor is in, as the argument says; shows the difference',
})

command('RunnerEditAccept', function(arguments)
  require('runner').accept_edit(arguments)
end, { range = true, bar = true, desc = 'Accepts the edit, or what of it is in the range' })

command('RunnerEditReject', function(arguments)
  require('runner').reject_edit(arguments)
end, { range = true, bar = true, desc = 'Rejects the edit, or what of it is in the range' })

command('RunnerModels', function()
  require('runner').models()
end, { desc = 'The installed models, and what can be done with each' })

command('RunnerSessions', function()
  require('runner').sessions()
end, { desc = 'The conversations that are kept: opens one, shows it, or deletes it' })

command('RunnerTools', function()
  require('runner').tools()
end, { desc = 'The tool servers and their tools; switches one on or off for the chat' })

command('RunnerMode', function(arguments)
  require('runner').mode(arguments.args)
end, {
  nargs = '?',
  complete = function(lead)
    return require('runner').complete_mode(lead)
  end,
  desc = 'What the model may do with files without a question: read, ask, edit or auto',
})

command('RunnerCheck', function()
  require('runner').checks()
end, { desc = 'The commands that a model may run here; allows one that the project suggests' })

command('RunnerEdits', function()
  require('runner').edits()
end, { desc = 'What the last answer has changed, as a quickfix list' })

command('RunnerUndo', function(arguments)
  require('runner').undo(arguments.bang)
end, { bang = true, desc = 'Takes the edits of the last answer back; with !, brings them back' })

--- The argument after the server is an address.
local function complete_login(lead, line)
  return line:match('^%S+%s+%S*$') and require('runner').complete_login(lead) or {}
end

command('RunnerLogin', function(arguments)
  require('runner').login(arguments)
end, { nargs = '+', complete = complete_login, desc = 'Logs in to a tool server at an address' })

command('RunnerLogout', function(arguments)
  require('runner').logout(arguments.args)
end, { nargs = 1, complete = complete_login, desc = 'Logs out of a tool server' })

command('RunnerPull', function(arguments)
  require('runner').pull(arguments.args)
end, {
  nargs = 1,
  complete = function(lead)
    return require('runner').complete_pull(lead)
  end,
  desc = 'Downloads a model',
})

command('RunnerEngine', function(arguments)
  require('runner').engine(arguments.args)
end, {
  nargs = '*',
  complete = function(lead, line, column)
    return require('runner').complete_engine(lead, line:sub(1, column))
  end,
  desc = 'Offers what can be started on this machine; or start, stop, status, install, sample, models, remove',
})

command('RunnerCancel', function()
  require('runner').cancel()
end, { desc = 'Cancels an edit or an answer that is under way, else a login, else the newest download or start' })

local group = vim.api.nvim_create_augroup('runner.chats', { clear = true })
local chats = 'runner://chat*'

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = chats,
  callback = function(event)
    require('runner').restore(event.buf)
  end,
})

-- An editor session restores empty buffers with their names.
vim.api.nvim_create_autocmd('SessionLoadPost', {
  group = group,
  callback = function()
    for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
      if vim.startswith(vim.api.nvim_buf_get_name(bufnr), 'runner://chat') then
        require('runner').restore(bufnr)
      end
    end
  end,
})
