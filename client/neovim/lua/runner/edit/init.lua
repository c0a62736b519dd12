--- `:RunnerEdit`: lines of a file as an instruction wants them, shown as a difference in their place.
local Edit = require('runner.edit.edit')
local model = require('runner.chat.model')
local notice = require('runner.notice')
local place = require('runner.edit.place')
local prompts = require('runner.chat.prompts')

local M = {}

--- The edits that are open, by buffer.
---@type table<integer, runner.Edit>
local edits = {}

local open_already = 'An edit is open in this buffer. Accept it with gA, or reject it with gR.'

---@param bufnr integer
---@param lines runner.Lines
---@return runner.Edit
local function open(bufnr, lines)
  local group = vim.api.nvim_create_augroup(('runner.edit.%d'):format(bufnr), { clear = true })
  local edit = Edit.create(bufnr, lines, function()
    edits[bufnr] = nil
    pcall(vim.api.nvim_del_augroup_by_id, group)
  end)
  edits[bufnr] = edit
  vim.api.nvim_create_autocmd('BufUnload', {
    group = group,
    buffer = bufnr,
    callback = function()
      edit:close()
    end,
  })
  vim.api.nvim_create_autocmd({ 'WinResized', 'BufWinEnter' }, {
    group = group,
    callback = function()
      edit:show_again()
    end,
  })
  return edit
end

---@param edit runner.Edit
---@param instruction string
local function begin(edit, instruction)
  local function is_open()
    return edits[edit.bufnr] == edit
  end
  prompts.find(instruction, function(found)
    local function ask(name)
      if is_open() then
        edit:ask(found.model or name, found.text)
      end
    end
    model.find(ask, function(message)
      if is_open() then
        edit:close()
        notice.complain(message)
      end
    end)
  end, function()
    edit:close()
  end)
end

---@param instruction string If it is empty, the user is asked.
---@param lines? runner.Lines Absent: what the cursor is in.
function M.start(instruction, lines)
  local bufnr = vim.api.nvim_get_current_buf()
  if edits[bufnr] then
    return notice.warn(open_already)
  end
  local wanted = lines or place.at_cursor()
  local problem = Edit.problem_of(bufnr, wanted)
  if problem then
    return notice.complain(problem)
  end
  local edit = open(bufnr, wanted)
  if instruction ~= '' then
    return begin(edit, instruction)
  end
  local what = edit:line_count() == 1 and 'this line' or ('these %d lines'):format(edit:line_count())
  vim.cmd.redraw()
  vim.ui.input({ prompt = ('What to do with %s: '):format(what) }, function(answer)
    if edits[bufnr] ~= edit then
      return
    elseif (answer or ''):find('%S') then
      return begin(edit, answer)
    end
    edit:close()
  end)
end

---@param decide fun(edit: runner.Edit)
local function with_edit(decide)
  local edit = edits[vim.api.nvim_get_current_buf()]
  if not edit then
    return notice.warn('No edit is open in this buffer. :RunnerEdit begins one.')
  end
  decide(edit)
end

---@param lines? runner.Lines
function M.accept(lines)
  with_edit(function(edit)
    edit:accept(lines)
  end)
end

---@param lines? runner.Lines
function M.reject(lines)
  with_edit(function(edit)
    edit:reject(lines)
  end)
end

--- Cancels the edit of the current buffer, else any whose model writes.
---@return boolean whether there was one
function M.cancel()
  local here = edits[vim.api.nvim_get_current_buf()]
  if here and here:cancel() then
    return true
  end
  return vim.iter(vim.tbl_values(edits)):any(function(edit)
    return edit:cancel()
  end)
end

return M
