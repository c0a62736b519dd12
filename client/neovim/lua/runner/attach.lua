--- Which buffers the daemon is told of.
local accept = require('runner.accept')
local client = require('runner.client')
local notice = require('runner.notice')
local options = require('runner.options')

local M = {}

--- Above it the daemon completes nothing, and to keep it in step would only cost.
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

--- What an earlier `setup` has begun. The editor ends completion only with the attachment itself.
---@param bufnr integer
local function detach(bufnr)
  if not options.completes() then
    client.detach(bufnr)
    accept.unmap(bufnr)
  end
end

function M.setup()
  local group = vim.api.nvim_create_augroup('runner.attach', { clear = true })
  -- The second is for files without a type.
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
