--- The buffer of the chat: what was said, and always below it the prompt. Answers grow above the prompt, so that
--- whoever is there stays there and can type on, and whoever has scrolled away is not moved.
local folds = require('runner.chat.folds')

---@class runner.Page
---@field bufnr integer
---@field private prompt integer The mark of the heading above the prompt.
---@field private answer_start integer? The mark of the beginning of the answer that came last.
---@field private answer_end integer? Where the next piece of it goes.
---@field private thinking_from integer? The mark of the beginning of the thinking that is under way.
---@field private held string? Line ends of the thinking that are written once more comes.
local Page = {}
Page.__index = Page

local namespace = vim.api.nvim_create_namespace('runner.chat')
local name = 'runner://chat'
local heading = '## You'

---@return runner.Page
function Page.create()
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, name)
  vim.bo[bufnr].buftype = 'nofile'
  vim.bo[bufnr].bufhidden = 'hide'
  vim.bo[bufnr].swapfile = false
  -- Some packages of Neovim come without the parser that the file type of Markdown needs, and fail there.
  local option = vim.treesitter.language.add('markdown') and 'filetype' or 'syntax'
  vim.bo[bufnr][option] = 'markdown'
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, { heading, '', '' })
  local page = setmetatable({ bufnr = bufnr }, Page)
  page.prompt = page:mark(0, 0)
  return page
end

--- Without all that was said; the prompt stays.
function Page:clear()
  local draft = self:draft()
  vim.api.nvim_buf_clear_namespace(self.bufnr, namespace, 0, -1)
  folds.clear(self.bufnr)
  vim.api.nvim_buf_set_lines(self.bufnr, 0, -1, false, { heading, '', '' })
  self.prompt = self:mark(0, 0)
  self.thinking_from = nil
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
---@param mark integer
---@return integer row
---@return integer col
function Page:place_of(mark)
  local place = vim.api.nvim_buf_get_extmark_by_id(self.bufnr, namespace, mark, {})
  return place[1], place[2]
end

--- The prompt as it stands below the last heading.
---@return string
function Page:draft()
  local row = self:place_of(self.prompt)
  return vim.trim(table.concat(vim.api.nvim_buf_get_lines(self.bufnr, row + 1, -1, false), '\n'))
end

---@param draft string
function Page:set_draft(draft)
  local row = self:place_of(self.prompt)
  local lines = vim.list_extend({ '' }, vim.split(draft, '\n'))
  vim.api.nvim_buf_set_lines(self.bufnr, row + 1, -1, false, lines)
  for _, window in ipairs(vim.fn.win_findbuf(self.bufnr)) do
    if vim.api.nvim_win_get_cursor(window)[1] > row then
      self:go_to_prompt(window)
    end
  end
end

--- What goes along with the prompt, beside its heading.
---@param title string?
function Page:show_context(title)
  local row = self:place_of(self.prompt)
  self:mark(row, 0, { id = self.prompt, virt_text = title and { { title, 'RunnerHint' } } or nil })
end

--- A prompt is a part of what was said now, and an answer begins under the model's name.
---@param prompt string
---@param model string
---@param title? string Of what goes along.
function Page:begin_answer(prompt, model, title)
  local lines = vim.list_extend({ heading, '' }, vim.split(prompt, '\n'))
  if title then
    vim.list_extend(lines, { '', ('*%s*'):format(title) })
  end
  vim.list_extend(lines, { '', '## ' .. model, '', '', '' })
  local row = self:place_of(self.prompt)
  vim.api.nvim_buf_set_lines(self.bufnr, row, row, false, lines)
  self:begin_text(row + #lines - 2, 0)
end

---@private
---@param row integer
---@param col integer
function Page:begin_text(row, col)
  self.answer_start = self:mark(row, col, { right_gravity = false })
  self.answer_end = self:mark(row, col)
end

---@private
---@param text string
function Page:append(text)
  local row, col = self:place_of(self.answer_end)
  vim.api.nvim_buf_set_text(self.bufnr, row, col, row, col, vim.split(text, '\n', { plain = true }))
end

--- A line of its own, after what is there already.
---@private
function Page:end_paragraph()
  local row, col = self:place_of(self.answer_end)
  if col > 0 then
    self:append('\n\n')
  elseif vim.api.nvim_buf_get_lines(self.bufnr, row - 1, row, false)[1] ~= '' then
    self:append('\n')
  end
end

--- A piece of the model's thinking, as a block quote.
---@param text string
function Page:add_thinking(text)
  if not self.thinking_from then
    self:end_paragraph()
    local row = self:place_of(self.answer_end)
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
  local first = self:place_of(self.thinking_from)
  local last = self:place_of(self.answer_end)
  self.thinking_from = nil
  self:end_paragraph()
  folds.add(self.bufnr, first, last)
  self:begin_text(self:place_of(self.answer_end))
end

---@param text string
function Page:add_text(text)
  self:end_thinking()
  self:append(text)
end

--- The answer as the daemon has it, in the place of the pieces that came.
---@param text string
function Page:replace_answer(text)
  self:end_thinking()
  local row, col = self:place_of(self.answer_start)
  local end_row, end_col = self:place_of(self.answer_end)
  vim.api.nvim_buf_set_text(self.bufnr, row, col, end_row, end_col, vim.split(text, '\n', { plain = true }))
end

--- A line about the answer: a note, or why there is none.
---@param line string
function Page:add_line(line)
  self:end_thinking()
  self:end_paragraph()
  self:append((line:gsub('%s*\n%s*', ' ')) .. '\n\n')
  self:begin_text(self:place_of(self.answer_end))
end

--- A line that belongs to no answer, above the prompt.
---@param line string
function Page:add_remark(line)
  local row = self:place_of(self.prompt)
  vim.api.nvim_buf_set_lines(self.bufnr, row, row, false, { (line:gsub('%s*\n%s*', ' ')), '' })
end

--- Nothing more comes.
function Page:end_answer()
  self:end_thinking()
end

--- The cursor to the end of the prompt.
---@param window integer
function Page:go_to_prompt(window)
  local last = vim.api.nvim_buf_line_count(self.bufnr)
  local text = vim.api.nvim_buf_get_lines(self.bufnr, last - 1, last, false)[1]
  vim.api.nvim_win_set_cursor(window, { last, #text })
end

return Page
