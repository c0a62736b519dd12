--- Highlight groups, which a colour scheme may override.
local M = {}

local links = {
  RunnerHeading = 'Title',
  RunnerHint = 'Comment',
  RunnerError = 'DiagnosticError',
  RunnerEditLines = 'Visual',
  RunnerEditAdded = 'DiffAdd',
  RunnerEditDeleted = 'DiffDelete',
}

function M.setup()
  for name, target in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

return M
