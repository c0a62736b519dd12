--- How the daemon is started.
local M = {}

--- This repository's own build, where the plugin's folder is still in it.
---@return string
local function built_daemon()
  local here = debug.getinfo(1, 'S').source:sub(2)
  local plugin = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.fs.normalize(vim.fn.resolve(here)))))
  return vim.fs.normalize(plugin .. '/../../dist/runnerd.cjs')
end

--- The user's own, else `runnerd` of the path, else the one that was built beside the plugin.
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
    return nil, 'Runner found no daemon. Run "npm run build" in its repository, or set cmd.'
  end
  if vim.fn.executable('node') == 0 then
    return nil, 'Runner needs Node 20.19 or newer. Install it, or set cmd.'
  end
  return { 'node', built, '--stdio' }
end

return M
