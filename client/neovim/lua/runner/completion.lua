--- Ghost text: the editor's own inline completion, enabled only for this client.
local options = require('runner.options')

local M = {}

local method = 'textDocument/inlineCompletion'

---@param client vim.lsp.Client
---@param bufnr integer
local function enable_now(client, bufnr)
  if not vim.api.nvim_buf_is_valid(bufnr) or not client.attached_buffers[bufnr] then
    return
  end
  if not options.completes() or not client:supports_method(method, bufnr) then
    return
  end
  -- The editor checks the client's support in the current buffer, which may be a chat.
  vim.api.nvim_buf_call(bufnr, function()
    vim.lsp.inline_completion.enable(true, { client_id = client.id, bufnr = bufnr })
  end)
  require('runner.accept').map(bufnr)
end

--- The editor counts a buffer as attached only after it has called the client.
---@param client vim.lsp.Client
---@param bufnr integer
function M.enable(client, bufnr)
  vim.schedule(function()
    enable_now(client, bufnr)
  end)
end

--- Call when the daemon has registered a capability.
---@param client_id integer
function M.refresh(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  for bufnr in pairs(client and client.attached_buffers or {}) do
    enable_now(client, bufnr)
  end
end

return M
