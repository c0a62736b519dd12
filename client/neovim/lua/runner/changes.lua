--- The change of a file that a model asks for: both texts side by side, in a tab page of their own, in diff mode.
local controls = require('runner.controls')

local M = {}

---@param text string
---@return string[]
local function to_lines(text)
  local lines = vim.split(text:gsub('\r\n', '\n'), '\n', { plain = true })
  if lines[#lines] == '' then
    table.remove(lines)
  end
  -- The editor shows other control characters as they are, and takes NUL for a line feed.
  return vim.tbl_map(function(line)
    return (line:gsub('%z', '␀'))
  end, lines)
end

--- Fills the window with a text that belongs to no file and is gone with its window.
---@param text string
---@param diff runner.FileDiff
---@param title string
---@return integer bufnr
local function show_text(text, diff, title)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, to_lines(text))
  vim.bo[bufnr].bufhidden = 'wipe'
  vim.bo[bufnr].modifiable = false
  vim.api.nvim_win_set_buf(0, bufnr)
  -- A file type would start what the user has for it, such as a language server.
  vim.bo[bufnr].syntax = vim.filetype.match({ filename = diff.path }) or ''
  vim.wo[0][0].winbar = ('%s: %s'):format(controls.line(diff.name, 100), title):gsub('%%', '%%%%')
  vim.cmd.diffthis()
  return bufnr
end

--- Shows the change. The function that it returns closes it, and goes back to where the user was.
---@param diff runner.FileDiff
---@return fun() close
function M.show(diff)
  local window = vim.api.nvim_get_current_win()
  vim.cmd('tab split')
  local page = vim.api.nvim_get_current_tabpage()
  show_text(diff.before or '', diff, diff.before and 'now' or 'a new file')
  vim.cmd('rightbelow vsplit')
  show_text(diff.after, diff, 'after the edit')
  -- The first change, or the top of what has none.
  vim.cmd('normal! gg')
  pcall(vim.cmd, 'silent! normal! ]c')
  vim.cmd.redraw()
  return function()
    if vim.api.nvim_tabpage_is_valid(page) then
      vim.cmd.tabclose(vim.api.nvim_tabpage_get_number(page))
    end
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_set_current_win(window)
    end
  end
end

--- The buffer of a file whose changes are not on the disk: writing the file would lose them.
---@param path string The real one.
---@return integer? bufnr
function M.unsaved_buffer(path)
  return vim.iter(vim.api.nvim_list_bufs()):find(function(bufnr)
    local name = vim.bo[bufnr].modified and vim.bo[bufnr].buftype == '' and vim.api.nvim_buf_get_name(bufnr) or ''
    return name ~= '' and (vim.uv.fs_realpath(name) or name) == path
  end)
end

return M
