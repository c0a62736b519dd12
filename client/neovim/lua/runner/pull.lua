--- Downloads of models.
local connection = require('runner.connection')
local notice = require('runner.notice')
local work = require('runner.work')

local M = {}

---@param model string
function M.start(model)
  work.start('runner/models/pull', { model = model }, function(err)
    if not err then
      notice.say(('%s is installed.'):format(model))
    elseif work.is_cancelled(err) then
      notice.say(('The download of %s was cancelled. The next one goes on from there.'):format(model))
    else
      notice.complain(err.message)
    end
  end)
end

--- A model's name alone, and with each of its sizes. The library is not trusted: sizes that are no tags are left out.
---@param entry { name: string, model: string, sizes?: string[] }
---@return string[]
local function names_of(entry)
  local names = { entry.model }
  for _, size in ipairs(entry.sizes or {}) do
    if size:match('^[%w_][%w_.-]*$') then
      names[#names + 1] = ('%s:%s'):format(entry.name, size)
    end
  end
  return names
end

--- The library's names with their sizes; none if there is no list.
---@param lead string
---@return string[]
function M.complete(lead)
  if not require('runner.status').can('catalog') then
    return {}
  end
  local result = connection.request_now('runner/models/library', vim.empty_dict(), 3000)
  local names = vim.iter(result and result.entries or {}):map(names_of):flatten():totable()
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, names)
end

return M
