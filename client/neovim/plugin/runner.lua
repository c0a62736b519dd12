-- Only defines the commands. Their modules are loaded on first use.
if vim.g.loaded_runner or not vim.api.nvim_create_user_command then
  return
end
vim.g.loaded_runner = true

---@param name string Without `Runner`.
---@param desc string
---@param options? vim.api.keyset.user_command
local function command(name, desc, options)
  vim.api.nvim_create_user_command('Runner' .. name, function(arguments)
    require('runner').run(name, arguments)
  end, vim.tbl_extend('force', options or {}, { desc = desc }))
end

---@param name string
---@return fun(lead: string, line: string, column: integer): string[]
local function completer(name)
  return function(lead, line, column)
    return require('runner').complete(name, lead, line:sub(1, column))
  end
end

command(
  'Chat',
  'Opens the chat, with ! a fresh one; with a prompt, sends it; with a range, sends its lines along',
  { nargs = '*', bang = true, range = true }
)
command(
  'Edit',
  'Changes lines, or what the cursor is in, as the argument says; shows the difference',
  { nargs = '*', range = true }
)
command('EditAccept', 'Accepts the edit, or what of it is in the range', { range = true, bar = true })
command('EditReject', 'Rejects the edit, or what of it is in the range', { range = true, bar = true })
command('Models', 'The installed models, and what can be done with each')
command('Sessions', 'The conversations that are kept: opens one, shows it, or deletes it')
command('Tools', 'The tool servers and their tools; switches one on or off for the chat')
command(
  'Mode',
  'What the model may do with files without a question: read, ask, edit or auto',
  { nargs = '?', complete = completer('Mode') }
)
command('Check', 'The commands that a model may run here; allows one that the project suggests')
command('Edits', 'What the last answer has changed, as a quickfix list')
command('Undo', 'Takes the edits of the last answer back; with !, brings them back', { bang = true })
command('Login', 'Logs in to a tool server at an address', { nargs = '+', complete = completer('Login') })
command('Logout', 'Logs out of a tool server', { nargs = 1, complete = completer('Logout') })
command('Pull', 'Downloads a model', { nargs = 1, complete = completer('Pull') })
command(
  'Engine',
  'Offers what can be started on this machine; or start, stop, status, install, sample, models, remove',
  { nargs = '*', complete = completer('Engine') }
)
command('Cancel', 'Cancels an edit or an answer that is under way, else a login, else the newest download or start')

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
