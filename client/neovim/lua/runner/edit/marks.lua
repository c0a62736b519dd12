--- Marks of an edit, none with the number of an earlier one, as the editor would give them: an undo would move it to
--- where the earlier one was.
local M = {}

local last = 0

---@param bufnr integer
---@param namespace integer
---@param row integer From 0.
---@param options vim.api.keyset.set_extmark
---@return integer id
function M.set(bufnr, namespace, row, options)
  last = last + 1
  return vim.api.nvim_buf_set_extmark(bufnr, namespace, row, 0, vim.tbl_extend('keep', options, { id = last }))
end

return M
