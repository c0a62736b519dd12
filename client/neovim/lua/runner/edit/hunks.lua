--- The difference between lines of a buffer and the new ones: shown in their place, and accepted hunk by hunk. The new
--- lines are virtual, so nothing changes before the user accepts it.
local controls = require('runner.controls')
local marks = require('runner.edit.marks')

local M = {}

local namespace = vim.api.nvim_create_namespace('runner.edit')

--- A part of the difference. Its mark moves with the text.
---@class runner.Hunk
---@field old string[] Not empty.
---@field new string[]
---@field first integer The row of its first old line among those that were compared, from 0.
---@field mark? integer At its first old line.

--- The most columns of a line that are shown.
local most_columns = 2000

local diff = vim.text and vim.text.diff or vim.diff

---@param lines string[]
---@return string
local function to_text(lines)
  return #lines == 0 and '' or table.concat(lines, '\n') .. '\n'
end

--- A hunk that only adds lines takes the line before them with it, or the line after them, so that it has a place that
--- the user sees, and that is known again.
---@param old string[]
---@param new string[]
---@param at [integer, integer, integer, integer]
---@return runner.Hunk
local function to_hunk(old, new, at)
  local first, count, new_first, new_count = unpack(at)
  local added = vim.list_slice(new, new_first, new_first + new_count - 1)
  if count > 0 then
    return { first = first - 1, old = vim.list_slice(old, first, first + count - 1), new = added }
  elseif first > 0 then
    table.insert(added, 1, old[first])
    return { first = first - 1, old = { old[first] }, new = added }
  end
  added[#added + 1] = old[1]
  return { first = 0, old = { old[1] }, new = added }
end

--- Hunks that touch each other are one: two lines that were added around one line share that line.
---@param hunks runner.Hunk[]
---@param hunk runner.Hunk
local function join(hunks, hunk)
  local before = hunks[#hunks]
  if not before or before.first + #before.old <= hunk.first then
    hunks[#hunks + 1] = hunk
    return
  end
  -- They share the one old line of the later hunk, which the earlier one has as its last.
  vim.list_extend(before.new, hunk.new, 2)
end

---@param old string[] Not empty.
---@param new string[]
---@return runner.Hunk[]
function M.compare(old, new)
  local found = diff(to_text(old), to_text(new), { result_type = 'indices', algorithm = 'histogram' })
  local hunks = {}
  for _, at in ipairs(found) do
    join(hunks, to_hunk(old, new, at))
  end
  return hunks
end

--- Of new lines that are still coming: what is not written yet is not deleted.
---@param old string[] Not empty.
---@param new string[]
---@return runner.Hunk[]
function M.compare_beginning(old, new)
  local hunks = M.compare(old, new)
  local last = hunks[#hunks]
  if last and last.first + #last.old == #old and #last.new < #last.old then
    for index = #last.new + 1, #last.old do
      last.new[index] = last.old[index]
    end
    -- A line that only repeats the old one is no difference.
    while last and #last.old > 0 and last.old[#last.old] == last.new[#last.new] do
      table.remove(last.old)
      table.remove(last.new)
    end
    if #last.old == 0 then
      table.remove(hunks)
    end
  end
  return hunks
end

---@param bufnr integer
---@return integer columns For text, in the narrowest window of the buffer.
function M.room_in(bufnr)
  local room = math.huge
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    local info = vim.fn.getwininfo(window)[1]
    room = math.min(room, info.width - info.textoff)
  end
  return math.max(room == math.huge and vim.o.columns or room, 10)
end

--- A line as the editor would show it, in rows of the window. Tabs are blanks up to the next stop.
---@param bufnr integer
---@param line string
---@param room integer
---@return string[]
local function to_rows(bufnr, line, room)
  local stop = vim.bo[bufnr].tabstop
  local shown, columns = {}, 0
  for part, tab in controls.fit(controls.visible(line), most_columns):gmatch('([^\t]*)(\t?)') do
    columns = columns + vim.fn.strdisplaywidth(part, columns)
    local blanks = tab == '' and 0 or stop - columns % stop
    columns = columns + blanks
    shown[#shown + 1] = part .. (' '):rep(blanks)
  end
  local rows, rest = {}, table.concat(shown)
  repeat
    -- As many characters as fit into the columns.
    local row = vim.fn.printf('%.' .. room .. 'S', rest)
    rows[#rows + 1] = row .. (' '):rep(room - vim.fn.strdisplaywidth(row))
    rest = rest:sub(#row + 1)
  until rest == '' or row == ''
  return rows
end

---@param bufnr integer
---@param lines string[]
---@return [string, string][][]
local function to_virtual(bufnr, lines)
  local room, all = M.room_in(bufnr), {}
  for _, line in ipairs(lines) do
    for _, row in ipairs(to_rows(bufnr, line, room)) do
      all[#all + 1] = { { row, 'RunnerEditAdded' } }
    end
  end
  return all
end

--- How many lines at the beginning, or at the end, are the same: those of an added line are not shown twice.
---@param hunk runner.Hunk
---@return integer before
---@return integer after
local function kept_lines(hunk)
  local old, new = hunk.old, hunk.new
  local before, after = 0, 0
  while before < #old and before < #new and old[before + 1] == new[before + 1] do
    before = before + 1
  end
  while after < #old - before and after < #new - before and old[#old - after] == new[#new - after] do
    after = after + 1
  end
  return before, after
end

--- Shows a hunk at this row of the buffer.
---@param bufnr integer
---@param hunk runner.Hunk
---@param row integer From 0.
local function show(bufnr, hunk, row)
  local before, after = kept_lines(hunk)
  if row == 0 and before == 0 and after == #hunk.old then
    -- The editor shows nothing above the first line of a buffer.
    after = after - 1
  end
  local deleted = #hunk.old - before - after
  hunk.mark = marks.set(bufnr, namespace, row, { right_gravity = true })
  for at = row + before, row + before + deleted - 1 do
    marks.set(bufnr, namespace, at, { line_hl_group = 'RunnerEditDeleted', priority = 200 })
  end
  local added = vim.list_slice(hunk.new, before + 1, #hunk.new - after)
  if #added == 0 then
    return
  end
  local is_above = before + deleted == 0
  marks.set(bufnr, namespace, row + (is_above and 0 or before + deleted - 1), {
    virt_lines = to_virtual(bufnr, added),
    virt_lines_above = is_above,
  })
end

--- Shows hunks of lines that begin at this row.
---@param bufnr integer
---@param hunks runner.Hunk[]
---@param first integer From 0.
function M.show(bufnr, hunks, first)
  M.clear(bufnr)
  for _, hunk in ipairs(hunks) do
    show(bufnr, hunk, first + hunk.first)
  end
end

--- Shows hunks again, where they are now.
---@param bufnr integer
---@param hunks runner.Hunk[]
function M.show_again(bufnr, hunks)
  local rows = vim.tbl_map(function(hunk)
    return M.row_of(bufnr, hunk)
  end, hunks)
  M.clear(bufnr)
  for index, hunk in ipairs(hunks) do
    show(bufnr, hunk, rows[index])
  end
end

---@param bufnr integer
function M.clear(bufnr)
  if vim.api.nvim_buf_is_loaded(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  end
end

---@param bufnr integer
---@param hunk runner.Hunk
---@return integer row From 0.
function M.row_of(bufnr, hunk)
  return vim.api.nvim_buf_get_extmark_by_id(bufnr, namespace, hunk.mark, {})[1] or 0
end

--- The hunk at a row, else the next one below it, else the last one above it.
---@param bufnr integer
---@param hunks runner.Hunk[]
---@param row integer From 0.
---@return runner.Hunk?
function M.nearest(bufnr, hunks, row)
  for _, hunk in ipairs(hunks) do
    if row < M.row_of(bufnr, hunk) + #hunk.old then
      return hunk
    end
  end
  return hunks[#hunks]
end

--- Whether the lines of a hunk are still as they were when the difference was made.
---@param bufnr integer
---@param hunk runner.Hunk
---@return boolean
local function is_unchanged(bufnr, hunk)
  local row = M.row_of(bufnr, hunk)
  return vim.deep_equal(vim.api.nvim_buf_get_lines(bufnr, row, row + #hunk.old, false), hunk.old)
end

--- Puts the new lines of a hunk in place of the old ones.
---@param bufnr integer
---@param hunk runner.Hunk
---@return boolean whether the old lines were still there, and the buffer could be changed
function M.accept(bufnr, hunk)
  if not is_unchanged(bufnr, hunk) then
    return false
  end
  local row = M.row_of(bufnr, hunk)
  -- Lines that stay are not replaced, so that marks and folds in them stay too.
  local before, after = kept_lines(hunk)
  local added = vim.list_slice(hunk.new, before + 1, #hunk.new - after)
  local first, last = row + before, row + #hunk.old - after
  return (pcall(vim.api.nvim_buf_set_lines, bufnr, first, last, false, added))
end

return M
