--- How the daemon is started.
local M = {}

--- The build of this repository, if the plugin's folder is still in it.
---@return string
local function built_daemon()
  local here = debug.getinfo(1, 'S').source:sub(2)
  local plugin = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.fs.normalize(vim.fn.resolve(here)))))
  return vim.fs.normalize(plugin .. '/../../dist/runnerd.cjs')
end

--- The user's own command, else `runnerd` of the path, else the one that was built beside the plugin.
---@return string[]? arguments
---@return string? problem What to do, where there is none.
function M.find()
  local own = require('runner.options').current.cmd
  if own then
    return own
  end
  if vim.fn.executable('runnerd') == 1 then
    return { 'runnerd', '--stdio' }
  end
  local built = built_daemon()
  if not vim.uv.fs_stat(built) then
    return nil, 'There is no daemon. Run "npm run build" in the repository of the plugin, or set cmd.'
  end
  if vim.fn.executable('node') == 0 then
    return nil, 'The daemon needs Node 20.19 or newer. Install it, or set cmd.'
  end
  return { 'node', built, '--stdio' }
end

--- Starts the daemon, and ends one that refuses its options: the editor would leave it running.
---@param cmd string[]
---@param on_refused fun(err: { message: string, data?: { path?: string } })
---@return fun(dispatchers: vim.lsp.rpc.Dispatchers): vim.lsp.rpc.PublicClient
function M.starter(cmd, on_refused)
  return function(dispatchers)
    local rpc = vim.lsp.rpc.start(cmd, dispatchers)
    local request = rpc.request
    rpc.request = function(method, params, done, on_sent)
      return request(method, params, function(err, result)
        if not err or method ~= 'initialize' then
          return done(err, result)
        end
        on_refused(err)
        rpc.terminate()
      end, on_sent)
    end
    return rpc
  end
end

return M
