--- The parts of a whole edit, which the user accepts or rejects one by one.
local hunks = require('runner.edit.hunks')
local keys = require('runner.edit.keys')
local marks = require('runner.edit.marks')
local notice = require('runner.notice')

---@class runner.Decision
---@field private bufnr integer
---@field private hunks runner.Hunk[] Those that wait.
---@field private on_end fun() Called once nothing waits any more.
local Decision = {}
Decision.__index = Decision

local namespace = vim.api.nvim_create_namespace('runner.edit.decision')

--- Shows the parts, with their keys beside the first.
---@param bufnr integer
---@param parts runner.Hunk[]
---@param first integer The row of the edit, from 0.
---@param on_end fun()
---@return runner.Decision
function Decision.begin(bufnr, parts, first, on_end)
  local self = setmetatable({ bufnr = bufnr, hunks = parts, on_end = on_end }, Decision)
  hunks.show(bufnr, parts, first)
  self:map_keys()
  self:show_hint()
  return self
end

---@private
---@return integer row From 0.
local function cursor_row()
  return vim.api.nvim_win_get_cursor(0)[1] - 1
end

---@private
function Decision:map_keys()
  local function nearest()
    return { hunks.nearest(self.bufnr, self.hunks, cursor_row()) }
  end
  keys.map(self.bufnr, {
    ga = keys.action('Accepts this part of the edit', function()
      self:accept_hunks(nearest())
    end),
    gr = keys.action('Rejects this part of the edit', function()
      self:settle(nearest())
    end),
    gA = keys.action('Accepts the edit', function()
      self:accept()
    end),
    gR = keys.action('Rejects the edit', function()
      self:reject()
    end),
    [']c'] = keys.action('The next part of the edit', function()
      self:go(1)
    end),
    ['[c'] = keys.action('The previous part of the edit', function()
      self:go(-1)
    end),
  })
end

--- The longest that fits beside the first part, in the narrowest window.
---@private
---@param row integer From 0.
---@return string
function Decision:hint(row)
  local hints = { '  ga accepts, gr rejects', '  ga, gr' }
  if #self.hunks > 1 then
    table.insert(hints, 1, ('  ga accepts, gr rejects, gA and gR all %d, ]c the next'):format(#self.hunks))
  end
  local line = vim.api.nvim_buf_get_lines(self.bufnr, row, row + 1, false)[1] or ''
  local room = hunks.room_in(self.bufnr) - vim.fn.strdisplaywidth(line)
  return vim.iter(hints):find(function(hint)
    return #hint <= room
  end) or hints[#hints]
end

---@private
function Decision:show_hint()
  self:clear_hint()
  local row = hunks.row_of(self.bufnr, self.hunks[1])
  marks.set(self.bufnr, namespace, row, {
    virt_text = { { self:hint(row), 'RunnerHint' } },
    virt_text_pos = 'eol',
    hl_mode = 'combine',
  })
end

---@private
function Decision:clear_hint()
  vim.api.nvim_buf_clear_namespace(self.bufnr, namespace, 0, -1)
end

--- Windows have another size.
function Decision:show_again()
  hunks.show_again(self.bufnr, self.hunks)
  self:show_hint()
end

---@private
---@param step 1|-1
function Decision:go(step)
  local row, target = cursor_row(), nil
  for _, hunk in ipairs(self.hunks) do
    local at = hunks.row_of(self.bufnr, hunk)
    if step == 1 and at > row then
      target = at
      break
    elseif step == -1 and at < row then
      target = at
    end
  end
  if target then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { target + 1, 0 })
  end
end

--- The parts in lines of the buffer, or all of them.
---@private
---@param lines runner.Lines?
---@return runner.Hunk[]
function Decision:hunks_in(lines)
  return vim.tbl_filter(function(hunk)
    local row = hunks.row_of(self.bufnr, hunk)
    return not lines or (row < lines.last and row + #hunk.old > lines.first)
  end, self.hunks)
end

--- These parts are decided.
---@private
---@param decided runner.Hunk[]
function Decision:settle(decided)
  self.hunks = vim.tbl_filter(function(hunk)
    return not vim.tbl_contains(decided, hunk)
  end, self.hunks)
  if #self.hunks == 0 then
    return self.on_end()
  end
  self:show_again()
end

--- Accepts the parts in these lines, or all. All of them are one step of undo.
---@param lines? runner.Lines
function Decision:accept(lines)
  self:accept_hunks(self:hunks_in(lines))
end

--- Rejects the parts in these lines, or all.
---@param lines? runner.Lines
function Decision:reject(lines)
  self:settle(self:hunks_in(lines))
end

---@private
---@param wanted runner.Hunk[]
function Decision:accept_hunks(wanted)
  if not vim.bo[self.bufnr].modifiable then
    return notice.complain('This buffer cannot be changed now. ":set modifiable" allows it.')
  end
  -- What the user did just before is another step of undo.
  vim.api.nvim_buf_call(self.bufnr, function()
    vim.cmd('let &g:undolevels = &g:undolevels')
  end)
  local accepted = vim.tbl_filter(function(hunk)
    return hunks.accept(self.bufnr, hunk)
  end, wanted)
  local left = #wanted - #accepted
  self:settle(accepted)
  if left > 0 then
    local message = 'You have changed the lines of %s meanwhile, so %s not accepted. u takes your change back, gr drops %s.'
    local words = left == 1 and { 'one part', 'it was', 'it' } or { ('%d parts'):format(left), 'they were', 'one' }
    notice.complain(message:format(unpack(words)))
  end
end

--- Ends without a decision.
function Decision:close()
  if vim.api.nvim_buf_is_loaded(self.bufnr) then
    self:clear_hint()
  end
end

return Decision
