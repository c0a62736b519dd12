--- The text of a chat: the conversation, and always the prompt below it. Answers grow above the prompt, so that the user
--- can go on typing there, and is not moved after scrolling away.
local Prompt = require('runner.chat.prompt')
local calls = require('runner.chat.calls')
local folds = require('runner.chat.folds')
local marks = require('runner.chat.marks')
local paper = require('runner.chat.paper')

---@class runner.Page
---@field bufnr integer
---@field prompt runner.PromptPlace
---@field private answer_start integer? The mark of the beginning of the text that came last.
---@field private answer_end integer? Where the next piece of it goes.
---@field private thinking_from integer? The mark of the beginning of the thinking that is under way.
---@field private held string? Line ends of the thinking that are written once more comes.
---@field private calls table<string, { call: runner.ToolCall, first: integer, last: integer }> Those without a result, with their marks.
local Page = {}
Page.__index = Page

---@param bufnr integer
---@return runner.Page
function Page.create(bufnr)
  local page = setmetatable({ bufnr = bufnr, prompt = Prompt.create(bufnr) }, Page)
  page:clear()
  return page
end

--- Removes the conversation; the prompt stays.
function Page:clear()
  folds.clear(self.bufnr)
  self.prompt:clear()
  self.answer_start, self.answer_end, self.thinking_from = nil, nil, nil
  self.calls = {}
end

---@return boolean
function Page:is_there()
  return vim.api.nvim_buf_is_loaded(self.bufnr)
end

--- Adds the prompt to the conversation, and begins an answer under the model's name.
---@param prompt string
---@param model string
---@param remark? string Of what goes along.
function Page:begin_answer(prompt, model, remark)
  local lines = vim.list_extend({ Prompt.heading, '' }, vim.split(prompt, '\n'))
  if remark then
    vim.list_extend(lines, { '', ('*%s*'):format(remark) })
  end
  vim.list_extend(lines, { '', '## ' .. model, '', '', '' })
  local row = self.prompt:row()
  paper.insert(self.bufnr, row, lines)
  self:begin_text(row + #lines - 2, 0)
end

---@private
---@param row integer
---@param col integer
function Page:begin_text(row, col)
  self.answer_start = marks.set(self.bufnr, row, col, { right_gravity = false })
  self.answer_end = marks.set(self.bufnr, row, col)
end

--- The position of the next piece of the answer: above the prompt, whatever the user has deleted.
---@private
---@return integer row
---@return integer col
function Page:answer_place()
  local prompt = self.prompt:row()
  local row, col = marks.place(self.bufnr, self.answer_end)
  if self.answer_end and row < prompt then
    return row, col
  end
  paper.insert(self.bufnr, prompt, { '', '' })
  self:begin_text(prompt, 0)
  return prompt, 0
end

---@private
---@param text string
function Page:append(text)
  local row, col = self:answer_place()
  paper.set_text(self.bufnr, { row, col }, { row, col }, text)
end

--- A separate line after the text so far.
---@private
function Page:end_paragraph()
  local row, col = self:answer_place()
  if col > 0 then
    self:append('\n\n')
  elseif (paper.line(self.bufnr, row - 1) or '') ~= '' then
    self:append('\n')
  end
end

--- A piece of the model's thinking, as a block quote.
---@param text string
function Page:add_thinking(text)
  if not self.thinking_from then
    self:end_paragraph()
    local row = self:answer_place()
    self.thinking_from = marks.set(self.bufnr, row, 0, { right_gravity = false })
    self.held = ''
    self:append('> ')
  end
  local shown, held = (self.held .. text):match('^(.-)(\n*)$')
  self.held = held
  self:append((shown:gsub('\n', '\n> ')))
end

--- Ends the thinking: the answer follows.
function Page:end_thinking()
  if not self.thinking_from then
    return
  end
  local last = self:answer_place()
  local first = math.min(marks.place(self.bufnr, self.thinking_from), last)
  self.thinking_from = nil
  self:end_paragraph()
  local count = last - first + 1
  local what = ('Thought, %d %s'):format(count, count == 1 and 'line' or 'lines')
  folds.add(self.bufnr, { first = first, last = last, summary = { what = what } })
  self:begin_text(self:answer_place())
end

---@param text string
function Page:add_text(text)
  self:end_thinking()
  self:append(text)
end

--- Replaces the streamed pieces with the daemon's whole text.
---@param text string
function Page:replace_answer(text)
  self:end_thinking()
  local row, col = self:answer_place()
  local first, first_col = marks.place(self.bufnr, self.answer_start)
  if first < row or (first == row and first_col <= col) then
    paper.set_text(self.bufnr, { first, first_col }, { row, col }, text)
  end
end

--- A call of a tool, open until it has a result.
---@param call runner.ToolCall
function Page:add_call(call)
  self:end_thinking()
  self:end_paragraph()
  local first = self:answer_place()
  local lines = calls.call_lines(call)
  self:append(table.concat(lines, '\n') .. '\n\n')
  local last = first + #lines - 1
  self.calls[call.id] = {
    call = call,
    first = marks.set(self.bufnr, first, 0, { right_gravity = false }),
    last = marks.set(self.bufnr, last, 0, { right_gravity = false }),
  }
  self:begin_text(self:answer_place())
end

--- The outcome of a call, which is folded with it.
---@param result runner.ToolResult
function Page:add_result(result)
  local shown = self.calls[result.id]
  if not shown then
    return
  end
  self.calls[result.id] = nil
  local lines = calls.result_lines(result)
  local last = self.prompt:row() - 1
  local row = math.min(marks.place(self.bufnr, shown.last), last)
  paper.insert(self.bufnr, row + 1, lines)
  local first = math.min(marks.place(self.bufnr, shown.first), row + 1)
  folds.add(self.bufnr, { first = first, last = row + #lines, summary = calls.summary(shown.call, result) })
end

---@param line string
---@return string
local function to_line(line)
  return (line:gsub('%s*\n%s*', ' '))
end

--- A line about the answer: a note, or the reason why there is none.
---@param line string
function Page:add_line(line)
  self:end_thinking()
  self:end_paragraph()
  self:append(to_line(line) .. '\n\n')
  self:begin_text(self:answer_place())
end

--- A line that belongs to no answer, above the prompt.
---@param line string
function Page:add_remark(line)
  paper.insert(self.bufnr, self.prompt:row(), { to_line(line), '' })
end

--- The answer is complete.
function Page:end_answer()
  self:end_thinking()
  self.calls = {}
end

return Page
