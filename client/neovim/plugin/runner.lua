-- The commands, and nothing else: what they need is loaded when one is used.
if vim.g.loaded_runner or not vim.api.nvim_create_user_command then
  return
end
vim.g.loaded_runner = true

local command = vim.api.nvim_create_user_command

command('RunnerChat', function(arguments)
  require('runner').chat(arguments)
end, { nargs = '*', range = true, desc = 'Opens the chat; with a prompt, sends it; with a range, sends its lines along' })

command('RunnerModels', function()
  require('runner').models()
end, { desc = 'The installed models, and what can be done with each' })

command('RunnerSessions', function()
  require('runner').sessions()
end, { desc = 'The conversations that are kept: opens one, shows it, or deletes it' })

command('RunnerPull', function(arguments)
  require('runner').pull(arguments.args)
end, {
  nargs = 1,
  complete = function(lead)
    return require('runner').complete_pull(lead)
  end,
  desc = 'Downloads a model',
})

command('RunnerCancel', function()
  require('runner').cancel()
end, { desc = 'Cancels the answer that is under way, else the newest download' })
