--- Lines of a buffer that go along with the user's words.
local M = {}

--- As the protocol has it.
---@class runner.Attachment
---@field path string
---@field lines string
---@field language? string
---@field text string

---@class runner.Selection
---@field attachment runner.Attachment What the model reads.
---@field title string What the user sees.

---@param bufnr integer
---@return string
local function path_of(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  return path == '' and 'a new file' or vim.fn.fnamemodify(path, ':.')
end

---@param bufnr integer
---@param first integer From 1.
---@param last integer
---@return runner.Selection
function M.of_lines(bufnr, first, last)
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, first - 1, last, false), '\n')
  local path = path_of(bufnr)
  local filetype = vim.bo[bufnr].filetype
  local language = filetype ~= '' and filetype or nil
  return {
    attachment = { path = path, lines = ('%d-%d'):format(first, last), language = language, text = text },
    title = ('with lines %d to %d of %s'):format(first, last, path),
  }
end

return M
