--- Folds thinking and tool calls once they are complete. Until then they are open.
local controls = require('runner.controls')

local M = {}

local namespace = vim.api.nvim_create_namespace('runner.chat.folds')

--- The texts of closed folds, by buffer and mark.
---@type table<integer, table<integer, runner.Summary>>
local summaries = {}

--- One line, cut to the width of the window.
---@class runner.Summary
---@field what string
---@field outcome? string

---@class runner.Fold
---@field first integer From 0.
---@field last integer
---@field summary runner.Summary

--- Setting it again makes the editor compute all folds anew.
---@param bufnr integer
local function refresh(bufnr)
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    vim.wo[window][0].foldmethod = 'expr'
  end
end

--- In insert mode, in any window, the editor folds nothing, and does not catch up later.
---@param bufnr integer
local function refresh_after_typing(bufnr)
  vim.api.nvim_create_autocmd('InsertLeave', {
    group = vim.api.nvim_create_augroup(('runner.folds.%d'):format(bufnr), { clear = true }),
    once = true,
    callback = vim.schedule_wrap(function()
      refresh(bufnr)
    end),
  })
end

---@param bufnr integer
---@param fold runner.Fold
function M.add(bufnr, fold)
  local options = { end_row = fold.last, end_col = 0 }
  local mark = vim.api.nvim_buf_set_extmark(bufnr, namespace, fold.first, 0, options)
  summaries[bufnr] = summaries[bufnr] or {}
  summaries[bufnr][mark] = fold.summary
  refresh(bufnr)
  if vim.api.nvim_get_mode().mode:match('^[iR]') then
    refresh_after_typing(bufnr)
  end
end

---@param bufnr integer
function M.clear(bufnr)
  summaries[bufnr] = nil
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  end
end

---@param window integer
function M.show_in(window)
  local options = vim.wo[window][0]
  options.foldmethod = 'expr'
  options.foldexpr = "v:lua.require'runner.chat.folds'.level()"
  options.foldtext = "v:lua.require'runner.chat.folds'.text()"
  options.foldlevel = 0
  options.foldminlines = 0
  options.foldenable = true
  -- No dots after the text; other fill characters stay.
  options.fillchars = vim.o.fillchars .. (vim.o.fillchars == '' and '' or ',') .. 'fold: '
end

---@param row integer From 0.
---@return integer? mark
---@return boolean? is_first
local function fold_at(row)
  local bufnr = vim.api.nvim_get_current_buf()
  local options = { details = true, overlap = true }
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, { row, 0 }, { row, -1 }, options)) do
    local first, last = mark[2], mark[4].end_row
    if row >= first and row <= last then
      return mark[1], row == first
    end
  end
end

--- For 'foldexpr'.
---@return string|integer
function M.level()
  local mark, is_first = fold_at(vim.v.lnum - 1)
  return not mark and 0 or is_first and '>1' or 1
end

---@param summary runner.Summary
---@param room integer Cells.
---@return string
local function fit(summary, room)
  local arrow = ' -> '
  if not summary.outcome then
    return controls.fit(summary.what, room)
  elseif vim.fn.strwidth(summary.what .. arrow .. summary.outcome) <= room then
    return summary.what .. arrow .. summary.outcome
  end
  local outcome = controls.fit(summary.outcome, math.floor((room - #arrow) / 2))
  local what = controls.fit(summary.what, room - #arrow - vim.fn.strwidth(outcome))
  return what .. arrow .. outcome
end

--- For 'foldtext'.
---@return string
function M.text()
  local mark = fold_at(vim.v.foldstart - 1)
  local summary = mark and (summaries[vim.api.nvim_get_current_buf()] or {})[mark] or { what = 'Folded' }
  local room = vim.api.nvim_win_get_width(0) - #'>  (zo opens)'
  return ('> %s (zo opens)'):format(fit(summary, room))
end

return M
