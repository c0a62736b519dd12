--- The keys of an edit: in its buffer, in normal mode, and only until it is over.
local M = {}

---@class runner.KeyAction
---@field desc string
---@field run fun()

--- The user's own mappings of these keys in the buffer, by key.
---@type table<integer, table<string, table<string, any>>>
local before = {}

local interrupts = vim.api.nvim_create_namespace('runner.edit.interrupts')
--- What <C-c> does, by buffer.
---@type table<integer, fun()>
local interruptible = {}

--- During other events the editor treats <C-c> as an interrupt, which no mapping sees.
---@param bufnr integer
---@param run fun()? Absent: nothing any more.
local function watch_interrupts(bufnr, run)
  interruptible[bufnr] = run
  local function on_key(_, typed)
    local interrupt = typed == '\3' and interruptible[vim.api.nvim_get_current_buf()]
    if interrupt and vim.api.nvim_get_mode().mode == 'n' then
      vim.schedule(interrupt)
    end
  end
  vim.on_key(next(interruptible) and on_key or nil, interrupts)
end

---@param desc string
---@param run fun()
---@return runner.KeyAction
function M.action(desc, run)
  return { desc = desc, run = run }
end

---@param bufnr integer
---@param keys table<string, runner.KeyAction>
function M.map(bufnr, keys)
  M.unmap(bufnr)
  before[bufnr] = {}
  vim.api.nvim_buf_call(bufnr, function()
    for key, action in pairs(keys) do
      local own = vim.fn.maparg(key, 'n', false, true)
      before[bufnr][key] = own.buffer == 1 and own or {}
      -- The editor's own `grn` and the like would make `gr` wait.
      vim.keymap.set('n', key, action.run, { buffer = bufnr, nowait = true, desc = action.desc })
    end
  end)
  watch_interrupts(bufnr, keys['<C-c>'] and keys['<C-c>'].run)
end

---@param bufnr integer
function M.unmap(bufnr)
  watch_interrupts(bufnr, nil)
  local own = before[bufnr]
  before[bufnr] = nil
  if not own or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  vim.api.nvim_buf_call(bufnr, function()
    for key, mapping in pairs(own) do
      pcall(vim.keymap.del, 'n', key, { buffer = bufnr })
      if mapping.lhs then
        vim.fn.mapset('n', false, mapping)
      end
    end
  end)
end

return M
