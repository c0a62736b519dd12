--- The key that accepts a suggestion. If none is shown, it does what it did before.
local options = require('runner.options')

local M = {}

local description = 'Takes the suggestion that is shown'

--- The earlier mapping of the key, by buffer.
---@type table<integer, table<string, any>>
local before = {}

---@param keys string
---@return string
local function to_codes(keys)
  return vim.api.nvim_replace_termcodes(keys, true, true, true)
end

---@param mapping table<string, any>
---@return string
local function type_right_side(mapping)
  local keys = mapping.rhs:gsub('<SID>', ('<SNR>%d_'):format(mapping.sid))
  vim.api.nvim_feedkeys(to_codes(keys), mapping.noremap == 1 and 'in' or 'im', false)
  return ''
end

---@param mapping table<string, any>
---@return string
local function evaluate(mapping)
  local result = mapping.callback and mapping.callback() or vim.api.nvim_eval(mapping.rhs)
  local keys = type(result) == 'string' and result or ''
  return mapping.replace_keycodes == 1 and to_codes(keys) or keys
end

--- The keys that an older mapping stands for. A mapped function runs after the key.
---@param mapping table<string, any>
---@return string
local function keys_of(mapping)
  if mapping.expr == 1 then
    return evaluate(mapping)
  end
  if mapping.callback then
    vim.schedule(mapping.callback)
    return ''
  end
  return type_right_side(mapping)
end

---@param key string
---@return table<string, any>?
local function global_mapping(key)
  local codes = to_codes(key)
  for _, mapping in ipairs(vim.api.nvim_get_keymap('i')) do
    if to_codes(mapping.lhs) == codes then
      return mapping
    end
  end
end

---@param bufnr integer
---@param item vim.lsp.inline_completion.Item
---@return string? rest What of it is not typed yet.
---@return integer? row
---@return integer? col Of the cursor, where that follows what is typed.
local function rest_of(bufnr, item)
  local is_typing = vim.api.nvim_get_mode().mode == 'i' and vim.api.nvim_get_current_buf() == bufnr
  if not is_typing or type(item.insert_text) ~= 'string' or not item.range then
    return nil
  end
  local row, col = item.range:to_extmark()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local typed = vim.api.nvim_get_current_line():sub(col + 1, cursor[2])
  if cursor[1] ~= row + 1 or cursor[2] < col or not vim.startswith(item.insert_text, typed) then
    return nil
  end
  return item.insert_text:sub(#typed + 1), row, cursor[2]
end

--- Inserts it as if it were pasted, so that `.` repeats it, without the replacement behind the cursor.
---@param bufnr integer
---@param item vim.lsp.inline_completion.Item
---@return vim.lsp.inline_completion.Item? item What is left to the editor.
local function paste(bufnr, item)
  local rest, row, col = rest_of(bufnr, item)
  if not rest then
    return item
  end
  local _, _, end_row, end_col = item.range:to_extmark()
  if end_row > row or end_col > col then
    vim.api.nvim_buf_set_text(bufnr, row, col, end_row, end_col, { '' })
  end
  vim.api.nvim_paste(rest, false, -1)
  local client = item.command and vim.lsp.get_client_by_id(item.client_id)
  if client then
    client:exec_cmd(item.command, { bufnr = bufnr })
  end
end

---@param bufnr integer
---@param key string
---@return string
local function press(bufnr, key)
  local function on_accept(item)
    return paste(bufnr, item)
  end
  if vim.lsp.inline_completion.get({ bufnr = bufnr, on_accept = on_accept }) then
    return ''
  end
  -- A global mapping is looked up now, because it may be new or changed.
  local mapping = before[bufnr] or global_mapping(key)
  return mapping and keys_of(mapping) or to_codes(key)
end

---@param bufnr integer
---@param key string
---@return table<string, any>? mapping The buffer's own.
local function own_mapping(bufnr, key)
  local mapping = vim.api.nvim_buf_call(bufnr, function()
    return vim.fn.maparg(key, 'i', false, true)
  end)
  return mapping.buffer == 1 and mapping or nil
end

--- Restores the earlier mapping, unless the key has been mapped again since.
---@param bufnr integer
function M.unmap(bufnr)
  local key = vim.api.nvim_buf_is_valid(bufnr) and vim.b[bufnr].runner_key
  if not key then
    return
  end
  vim.b[bufnr].runner_key = nil
  local ours = own_mapping(bufnr, key)
  if not ours or ours.desc ~= description then
    return
  end
  vim.keymap.del('i', key, { buffer = bufnr })
  if before[bufnr] then
    vim.api.nvim_buf_call(bufnr, function()
      vim.fn.mapset('i', false, before[bufnr])
    end)
  end
end

--- Maps the key in the options, and restores the one that was mapped before.
---@param bufnr integer
function M.map(bufnr)
  local key = options.accept_key()
  if vim.b[bufnr].runner_key == key then
    return
  end
  M.unmap(bufnr)
  if not key then
    return
  end
  vim.b[bufnr].runner_key = key
  before[bufnr] = own_mapping(bufnr, key)
  vim.keymap.set('i', key, function()
    return press(bufnr, key)
  end, { buffer = bufnr, expr = true, replace_keycodes = false, desc = description })
end

return M
