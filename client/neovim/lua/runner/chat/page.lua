--- The text of a chat: what was said, and always below it the prompt. Answers grow above the prompt, so that whoever is
--- there stays there and can type on, and whoever has scrolled away is not moved. The user may edit all of it: what
--- the chat needs is put back where it is gone.
local calls = require('runner.chat.calls')
local folds = require('runner.chat.folds')
local paper = require('runner.chat.paper')

---@class runner.Page
---@field bufnr integer
---@field private prompt integer The mark of the heading above the prompt.
---@field private answer_start integer? The mark of the beginning of the text that came last.
---@field private answer_end integer? Where the next piece of it goes.
---@field private thinking_from integer? The mark of the beginning of the thinking that is under way.
---@field private held string? Line ends of the thinking that are written once more comes.
---@field private calls table<string, { call: runner.ToolCall, first: integer, last: integer }> Those without a result, with their marks.
---@field private context string? What goes along with the prompt.
local Page = {}
Page.__index = Page

local namespace = vim.api.nvim_create_namespace('runner.chat')
local heading = '## You'

---@param bufnr integer
---@return runner.Page
function Page.create(bufnr)
  local page = setmetatable({ bufnr = bufnr }, Page)
  page:clear()
  return page
end

--- Without all that was said; the prompt stays.
function Page:clear()
  local draft = self.prompt and self:draft() or ''
  vim.api.nvim_buf_clear_namespace(self.bufnr, namespace, 0, -1)
  folds.clear(self.bufnr)
  paper.replace_from(self.bufnr, 0, { heading, '', '' })
  self.prompt = self:mark(0, 0)
  self.answer_start, self.answer_end, self.thinking_from = nil, nil, nil
  self.calls = {}
  if draft ~= '' then
    self:set_draft(draft)
  end
end

---@return boolean
function Page:is_there()
  return vim.api.nvim_buf_is_loaded(self.bufnr)
end

---@private
---@param row integer
---@param col integer
---@param options? vim.api.keyset.set_extmark
---@return integer
function Page:mark(row, col, options)
  return vim.api.nvim_buf_set_extmark(self.bufnr, namespace, row, col, options or {})
end

---@private
---@param mark integer?
---@return integer row
---@return integer col
function Page:place_of(mark)
  local place = mark and vim.api.nvim_buf_get_extmark_by_id(self.bufnr, namespace, mark, {}) or {}
  return place[1] or 0, place[2] or 0
end

--- The heading at its mark, or, where an undo has parted them, with nothing in between.
---@private
---@param row integer
---@return integer?
function Page:find_heading(row)
  for candidate = row, math.max(row - 3, 0), -1 do
    local line = paper.line(self.bufnr, candidate)
    if line == heading then
      return candidate
    elseif candidate < row and line ~= '' then
      return nil
    end
  end
end

--- The row of the heading above the prompt. Where the user has deleted it, it stands there again: what is below it is
--- the prompt.
---@private
---@param insert? fun(bufnr: integer, row: integer, lines: string[])
---@return integer
function Page:prompt_row(insert)
  local count = vim.api.nvim_buf_line_count(self.bufnr)
  local row = math.min(self:place_of(self.prompt), count)
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
  if found ~= self:place_of(self.prompt) then
    self:mark_prompt(found)
  end
  return found
end

--- Puts back what the user has just deleted and the chat needs; an undo takes both back together.
function Page:mend()
  self:prompt_row(paper.join)
end

---@private
---@param row integer
function Page:mark_prompt(row)
  local context = self.context and { { self.context, 'RunnerHint' } } or nil
  self.prompt = self:mark(row, 0, { id = self.prompt, virt_text = context })
end

--- The prompt as it stands below the last heading.
---@return string
function Page:draft()
  local row = self:prompt_row()
  return vim.trim(table.concat(vim.api.nvim_buf_get_lines(self.bufnr, row + 1, -1, false), '\n'))
end

---@param draft string
function Page:set_draft(draft)
  local row = self:prompt_row()
  paper.replace_from(self.bufnr, row + 1, vim.list_extend({ '' }, vim.split(draft, '\n')))
  for _, window in ipairs(vim.fn.win_findbuf(self.bufnr)) do
    if vim.api.nvim_win_get_cursor(window)[1] > row then
      self:go_to_prompt(window)
    end
  end
end

--- The prompt was sent. What was typed behind it meanwhile stays; so does all of it where it was changed.
---@param sent string
function Page:cut_draft(sent)
  local lines = vim.api.nvim_buf_get_lines(self.bufnr, self:prompt_row() + 1, -1, false)
  local draft = table.concat(lines, '\n'):gsub('^%s+', '')
  if vim.startswith(draft, sent) then
    self:set_draft((draft:sub(#sent + 1):gsub('^%s+', '')))
  end
end

--- What goes along with the prompt, beside its heading.
---@param title string?
function Page:show_context(title)
  self.context = title
  self:mark_prompt(self:prompt_row())
end

--- A prompt is a part of what was said now, and an answer begins under the model's name.
---@param prompt string
---@param model string
---@param remark? string Of what goes along.
function Page:begin_answer(prompt, model, remark)
  local lines = vim.list_extend({ heading, '' }, vim.split(prompt, '\n'))
  if remark then
    vim.list_extend(lines, { '', ('*%s*'):format(remark) })
  end
  vim.list_extend(lines, { '', '## ' .. model, '', '', '' })
  local row = self:prompt_row()
  paper.insert(self.bufnr, row, lines)
  self:begin_text(row + #lines - 2, 0)
end

---@private
---@param row integer
---@param col integer
function Page:begin_text(row, col)
  self.answer_start = self:mark(row, col, { right_gravity = false })
  self.answer_end = self:mark(row, col)
end

--- Where the next piece of the answer goes: above the prompt, whatever the user has deleted.
---@private
---@return integer row
---@return integer col
function Page:answer_place()
  local prompt = self:prompt_row()
  local row, col = self:place_of(self.answer_end)
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

--- A line of its own, after what is there already.
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
    self.thinking_from = self:mark(row, 0, { right_gravity = false })
    self.held = ''
    self:append('> ')
  end
  local shown, held = (self.held .. text):match('^(.-)(\n*)$')
  self.held = held
  self:append((shown:gsub('\n', '\n> ')))
end

--- What comes now is the answer.
function Page:end_thinking()
  if not self.thinking_from then
    return
  end
  local last = self:answer_place()
  local first = math.min(self:place_of(self.thinking_from), last)
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

--- The text as the daemon has it, in the place of the pieces that came.
---@param text string
function Page:replace_answer(text)
  self:end_thinking()
  local row, col = self:answer_place()
  local first, first_col = self:place_of(self.answer_start)
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
    first = self:mark(first, 0, { right_gravity = false }),
    last = self:mark(last, 0, { right_gravity = false }),
  }
  self:begin_text(self:answer_place())
end

--- What came of a call, which is folded with it.
---@param result runner.ToolResult
function Page:add_result(result)
  local shown = self.calls[result.id]
  if not shown then
    return
  end
  self.calls[result.id] = nil
  local lines = calls.result_lines(result)
  local last = self:prompt_row() - 1
  local row = math.min(self:place_of(shown.last), last)
  paper.insert(self.bufnr, row + 1, lines)
  local first = math.min(self:place_of(shown.first), row + 1)
  folds.add(self.bufnr, { first = first, last = row + #lines, summary = calls.summary(shown.call, result) })
end

---@param line string
---@return string
local function to_line(line)
  return (line:gsub('%s*\n%s*', ' '))
end

--- A line about the answer: a note, or why there is none.
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
  paper.insert(self.bufnr, self:prompt_row(), { to_line(line), '' })
end

--- Nothing more comes.
function Page:end_answer()
  self:end_thinking()
  self.calls = {}
end

--- The cursor to the end of the prompt.
---@param window integer
function Page:go_to_prompt(window)
  self:prompt_row()
  local last = vim.api.nvim_buf_line_count(self.bufnr)
  vim.api.nvim_win_set_cursor(window, { last, #(paper.line(self.bufnr, last - 1) or '') })
end

--- Of a page that is only looked at: what was said, without a prompt.
function Page:leave_out_prompt()
  local row = self:prompt_row()
  paper.replace_from(self.bufnr, math.max(row, 1), {})
  vim.bo[self.bufnr].modifiable = false
end

return Page
