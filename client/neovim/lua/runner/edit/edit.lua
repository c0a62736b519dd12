--- One edit: lines of a buffer, and the new lines as they come. Once they are whole, the user decides on them.
local Decision = require('runner.edit.decision')
local attachments = require('runner.chat.attachments')
local connection = require('runner.connection')
local hunks = require('runner.edit.hunks')
local incoming = require('runner.incoming')
local keys = require('runner.edit.keys')
local marks = require('runner.edit.marks')
local notice = require('runner.notice')

---@alias runner.EditPhase 'asking'|'waiting'|'thinking'|'writing'|'done'

---@class runner.Edit
---@field bufnr integer
---@field phase runner.EditPhase
---@field private old string[]
---@field private pieces string[] Of the new text.
---@field private size integer Bytes of the new text.
---@field private decision runner.Decision? Once the new lines are whole.
---@field private place integer? The mark of the first line.
---@field private hint integer? The mark of the line that says what goes on.
---@field private model string?
---@field private stream_id string?
---@field private request runner.Request?
---@field private on_end fun()
---@field private is_due boolean? The new lines are drawn soon.
local Edit = {}
Edit.__index = Edit

local namespace = vim.api.nvim_create_namespace('runner.edit.place')
--- Of the lines that are changed, until the new ones come.
local highlight = vim.api.nvim_create_namespace('runner.edit.lines')
--- In bytes, of the lines and of the new ones. No model answers more in one piece.
local most_bytes = 1024 * 1024
--- Lines around the edit that the daemon gets. It sends the nearest.
local most_around = 200
--- In ms between two drawings of what comes.
local period = 40

local count = 0
--- Edits that wait for their end, by stream.
---@type table<string, runner.Edit>
local streams = {}

incoming.on('runner/edit/delta', function(delta)
  local edit = streams[delta.streamId]
  if edit then
    edit:take(delta)
  end
end)

---@param bufnr integer
---@param lines runner.Lines
---@return string? problem
function Edit.problem_of(bufnr, lines)
  if vim.startswith(vim.api.nvim_buf_get_name(bufnr), 'runner://') or not vim.bo[bufnr].modifiable then
    return 'This buffer cannot be changed, so there is nothing to edit.'
  end
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, lines.first, lines.last, false), '\r')
  if #text > most_bytes then
    return 'These lines have more than 1 MB. Select fewer.'
  elseif text:find('\n', 1, true) then
    return 'These lines have NUL characters, so they are no text.'
  end
end

--- The lines are marked, so that the user sees them while saying what to do.
---@param bufnr integer
---@param lines runner.Lines
---@param on_end fun()
---@return runner.Edit
function Edit.create(bufnr, lines, on_end)
  local self = setmetatable({
    bufnr = bufnr,
    phase = 'asking',
    old = vim.api.nvim_buf_get_lines(bufnr, lines.first, lines.last, false),
    pieces = {},
    size = 0,
    on_end = on_end,
  }, Edit)
  self.place = marks.set(bufnr, namespace, lines.first, {})
  for row = lines.first, lines.last - 1 do
    marks.set(bufnr, highlight, row, { line_hl_group = 'RunnerEditLines' })
  end
  return self
end

---@return integer
function Edit:line_count()
  return #self.old
end

---@private
---@return integer row From 0.
function Edit:row()
  return vim.api.nvim_buf_get_extmark_by_id(self.bufnr, namespace, self.place, {})[1] or 0
end

---@private
---@param text string
function Edit:say(text)
  self.hint = marks.set(self.bufnr, namespace, self:row(), {
    id = self.hint,
    virt_text = { { '  ' .. text, 'RunnerHint' } },
    virt_text_pos = 'eol',
    hl_mode = 'combine',
  })
end

--- The lines are as they were, wherever they have moved.
---@private
---@return boolean
function Edit:is_unchanged()
  local row = self:row()
  return vim.deep_equal(vim.api.nvim_buf_get_lines(self.bufnr, row, row + #self.old, false), self.old)
end

---@private
---@param instruction string
---@return table
function Edit:params(instruction)
  local bufnr, row = self.bufnr, self:row()
  local function text_of(first, last)
    return table.concat(vim.api.nvim_buf_get_lines(bufnr, first, last, false), '\n')
  end
  return vim.tbl_extend('error', attachments.place_of(bufnr), {
    streamId = self.stream_id,
    model = self.model,
    instruction = instruction,
    text = table.concat(self.old, '\n'),
    before = text_of(math.max(row - most_around, 0), row),
    after = text_of(row + #self.old, row + #self.old + most_around),
  })
end

--- Asks the model.
---@param model string
---@param instruction string
function Edit:ask(model, instruction)
  count = count + 1
  self.model, self.stream_id = model, ('neovim-edit-%d'):format(count)
  streams[self.stream_id] = self
  keys.map(self.bufnr, {
    ['<C-c>'] = keys.action('Cancels the edit', function()
      self:cancel()
    end),
  })
  self:set_phase('waiting')
  self.request = connection.request('runner/edit', self:params(instruction), function(err, result)
    if self.phase ~= 'done' and streams[self.stream_id] then
      self:finish(err, result)
    end
  end)
end

local phases = {
  waiting = '%s reads … <C-c> cancels',
  thinking = '%s thinks … <C-c> cancels',
  writing = '%s writes … <C-c> cancels',
}

---@private
---@param phase runner.EditPhase
function Edit:set_phase(phase)
  if self.phase == phase then
    return
  end
  if phase == 'writing' then
    vim.api.nvim_buf_clear_namespace(self.bufnr, highlight, 0, -1)
  end
  self.phase = phase
  self:say(phases[phase]:format(self.model))
end

--- The next piece of what comes.
---@param delta { kind: string, text?: string, notice?: { code: string, message: string } }
function Edit:take(delta)
  if delta.kind == 'notice' and delta.notice.code == 'model-loading' then
    self:say(('Loading %s … <C-c> cancels'):format(self.model))
  elseif delta.kind == 'notice' then
    notice.warn(delta.notice.message)
  elseif delta.kind == 'thinking' then
    self:set_phase('thinking')
  elseif delta.kind == 'text' then
    self:set_phase('writing')
    if delta.text == '' then
      return
    end
    self.size = self.size + #delta.text
    if self.size > most_bytes then
      self:close()
      return notice.complain('The model wrote more than 1 MB, so it was stopped. Nothing was changed.')
    end
    table.insert(self.pieces, delta.text)
    self:draw_soon()
  end
end

---@private
function Edit:draw_soon()
  if self.is_due then
    return
  end
  self.is_due = true
  vim.defer_fn(function()
    self.is_due = false
    if self.phase == 'writing' and vim.api.nvim_buf_is_loaded(self.bufnr) then
      self:draw_beginning()
    end
  end, period)
end

---@private
function Edit:draw_beginning()
  if not self:is_unchanged() then
    return hunks.clear(self.bufnr)
  end
  local new = vim.split(table.concat(self.pieces), '\n', { plain = true })
  hunks.show(self.bufnr, hunks.compare_beginning(self.old, new), self:row())
end

---@private
---@param err runner.Error?
---@param result { finishReason: string, text: string, notices: { code: string, message: string }[] }?
function Edit:finish(err, result)
  local problem = self:problem_with(err, result)
  if problem then
    self:close()
    return notice.complain(problem)
  end
  local new = result.text == '' and {} or vim.split(result.text, '\n', { plain = true })
  local parts = hunks.compare(self.old, new)
  if #parts == 0 then
    self:close()
    return notice.say('The model leaves these lines as they are.')
  end
  for _, one in ipairs(result.notices) do
    if one.code == 'edit-without-block' then
      notice.warn(one.message)
    end
  end
  streams[self.stream_id] = nil
  self.phase = 'done'
  local row = self:row()
  self:clear_marks()
  self.decision = Decision.begin(self.bufnr, parts, row, function()
    self:close()
  end)
end

---@private
---@param err runner.Error?
---@param result table?
---@return string?
function Edit:problem_with(err, result)
  if err then
    return ('Nothing was changed. %s'):format(err.message)
  elseif result.finishReason ~= 'stop' then
    return 'Nothing was changed: the new lines were cut, because the context window is full. Select fewer lines.'
  elseif not self:is_unchanged() then
    return 'Nothing was changed: you have changed these lines meanwhile. Ask again.'
  elseif #result.text > most_bytes then
    return 'Nothing was changed: the new lines have more than 1 MB.'
  end
end

--- Windows have another size.
function Edit:show_again()
  if self.decision then
    self.decision:show_again()
  end
end

--- Accepts the parts in these lines, or all.
---@param lines? runner.Lines
function Edit:accept(lines)
  if not self.decision then
    return notice.warn('The new lines are still coming; <C-c> cancels.')
  end
  self.decision:accept(lines)
end

--- Rejects the parts in these lines, or all. While they come, that cancels.
---@param lines? runner.Lines
function Edit:reject(lines)
  if not self.decision then
    self:cancel()
    return
  end
  self.decision:reject(lines)
end

--- Stops the model, if it writes.
---@return boolean whether it did
function Edit:cancel()
  local was_coming = self.phase ~= 'done'
  if was_coming then
    self:close()
    notice.say('The edit was cancelled. Nothing was changed.')
  end
  return was_coming
end

--- Ends the edit, without a word.
function Edit:close()
  local request = self.request
  self.phase, self.request = 'done', nil
  if self.stream_id and streams[self.stream_id] then
    streams[self.stream_id] = nil
    if request then
      request.cancel()
    end
  end
  keys.unmap(self.bufnr)
  hunks.clear(self.bufnr)
  if self.decision then
    self.decision:close()
  end
  if vim.api.nvim_buf_is_loaded(self.bufnr) then
    self:clear_marks()
  end
  self.on_end()
end

---@private
function Edit:clear_marks()
  vim.api.nvim_buf_clear_namespace(self.bufnr, namespace, 0, -1)
  vim.api.nvim_buf_clear_namespace(self.bufnr, highlight, 0, -1)
end

return Edit
