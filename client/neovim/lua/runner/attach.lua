--- Attaches the daemon to buffers.
local accept = require('runner.accept')
local client = require('runner.client')
local notice = require('runner.notice')
local options = require('runner.options')

local M = {}

--- In larger buffers the daemon completes nothing, so they are not sent.
local most_bytes = 10 * 1024 * 1024

---@param bufnr integer
---@return boolean
local function is_ordinary_file(bufnr)
  if vim.bo[bufnr].buftype ~= '' or not vim.bo[bufnr].modifiable then
    return false
  end
  return vim.api.nvim_buf_get_offset(bufnr, vim.api.nvim_buf_line_count(bufnr)) <= most_bytes
end

---@param bufnr integer
---@return boolean
local function is_wanted(bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return false
  end
  return vim.bo[bufnr].filetype == 'modelfile' or (options.completes() and is_ordinary_file(bufnr))
end

---@param bufnr integer
local function attach(bufnr)
  if not is_wanted(bufnr) then
    return
  end
  local _, problem = client.start(bufnr)
  if problem then
    notice.warn_once(problem)
  end
end

--- Detaches a buffer if completion is off now. The editor ends completion only when a buffer is detached.
---@param bufnr integer
local function detach(bufnr)
  if not options.completes() then
    client.detach(bufnr)
    accept.unmap(bufnr)
  end
end

function M.setup()
  local group = vim.api.nvim_create_augroup('runner.attach', { clear = true })
  -- The second event is for files without a type.
  vim.api.nvim_create_autocmd({ 'FileType', 'BufWinEnter' }, {
    group = group,
    callback = function(event)
      attach(event.buf)
    end,
  })
  client.update()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    detach(bufnr)
    attach(bufnr)
  end
  client.refresh_completion()
end

return M
