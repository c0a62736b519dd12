--- The prompt: below the conversation, under its own heading. The user may edit everything: a deleted heading is
--- restored.
local marks = require('runner.chat.marks')
local paper = require('runner.chat.paper')

---@class runner.PromptPlace
---@field private bufnr integer
---@field private mark integer? Of the heading.
---@field private context string? What goes along with it.
local Prompt = {}
Prompt.__index = Prompt

local heading = '## You'
Prompt.heading = heading

---@param bufnr integer
---@return runner.PromptPlace
function Prompt.create(bufnr)
  return setmetatable({ bufnr = bufnr }, Prompt)
end

--- Makes the prompt the only content of the buffer, with the typed text.
function Prompt:clear()
  local draft = self.mark and self:draft() or ''
  marks.clear(self.bufnr)
  paper.replace_from(self.bufnr, 0, { heading, '', '' })
  self.mark = marks.set(self.bufnr, 0, 0)
  if draft ~= '' then
    self:set_draft(draft)
  end
end

--- The heading at its mark, or right beside it after an undo has separated them.
---@private
---@param row integer
---@return integer?
function Prompt:find_heading(row)
  for candidate = row, math.max(row - 3, 0), -1 do
    local line = paper.line(self.bufnr, candidate)
    if line == heading then
      return candidate
    elseif candidate < row and line ~= '' then
      return nil
    end
  end
end

--- The row of the heading above the prompt. A deleted heading is inserted again at its mark; the text below it is the
--- prompt.
---@param insert? fun(bufnr: integer, row: integer, lines: string[])
---@return integer
function Prompt:row(insert)
  local count = vim.api.nvim_buf_line_count(self.bufnr)
  local row = math.min(marks.place(self.bufnr, self.mark), count)
  local found = self:find_heading(row)
  if not found then
    local is_empty = count == 1 and paper.line(self.bufnr, 0) == ''
    row = is_empty and 0 or row
    local lines = (paper.line(self.bufnr, row - 1) or '') ~= '' and { '', heading, '' } or { heading, '' }
    if row == count then
      lines[#lines + 1] = ''
    end
    (insert or paper.insert)(self.bufnr, row, lines)
    found = lines[1] == heading and row or row + 1
  end
  if found ~= marks.place(self.bufnr, self.mark) then
    self:set_mark(found)
  end
  return found
end

--- Restores deleted parts that the chat needs. One undo reverts both the deletion and this.
function Prompt:mend()
  self:row(paper.join)
end

---@private
---@param row integer
function Prompt:set_mark(row)
  local context = self.context and { { self.context, 'RunnerHint' } } or nil
  self.mark = marks.set(self.bufnr, row, 0, { id = self.mark, virt_text = context })
end

--- The prompt below the last heading.
---@return string
function Prompt:draft()
  local row = self:row()
  return vim.trim(table.concat(vim.api.nvim_buf_get_lines(self.bufnr, row + 1, -1, false), '\n'))
end

---@param draft string
function Prompt:set_draft(draft)
  local row = self:row()
  paper.replace_from(self.bufnr, row + 1, vim.list_extend({ '' }, vim.split(draft, '\n')))
  for _, window in ipairs(vim.fn.win_findbuf(self.bufnr)) do
    if vim.api.nvim_win_get_cursor(window)[1] > row then
      self:go_to(window)
    end
  end
end

--- Removes the sent prompt. Text that was typed after it meanwhile stays, and so does a prompt that was changed.
---@param sent string
function Prompt:cut_draft(sent)
  local lines = vim.api.nvim_buf_get_lines(self.bufnr, self:row() + 1, -1, false)
  local draft = table.concat(lines, '\n'):gsub('^%s+', '')
  if vim.startswith(draft, sent) then
    self:set_draft((draft:sub(#sent + 1):gsub('^%s+', '')))
  end
end

--- Shows the attachments of the prompt beside its heading.
---@param title string?
function Prompt:show_context(title)
  self.context = title
  self:set_mark(self:row())
end

--- Moves the cursor to the end of the prompt.
---@param window integer
function Prompt:go_to(window)
  self:row()
  local last = vim.api.nvim_buf_line_count(self.bufnr)
  vim.api.nvim_win_set_cursor(window, { last, #(paper.line(self.bufnr, last - 1) or '') })
end

--- For a read-only page: the conversation without a prompt.
function Prompt:leave_out()
  local row = self:row()
  paper.replace_from(self.bufnr, math.max(row, 1), {})
end

return Prompt
