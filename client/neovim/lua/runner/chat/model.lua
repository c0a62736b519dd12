--- The model that answers, and the choice of another.
local connection = require('runner.connection')
local models = require('runner.models')
local notice = require('runner.notice')
local picker = require('runner.picker')
local status = require('runner.status')

local M = {}

local none_here = table.concat({
  'Nothing was sent: every model that can chat runs elsewhere.',
  'Choose one of them with gm, or take one of your own.',
}, ' ')
local missing = 'The chat model %s is not installed, or cannot chat. %s answers'
local none = 'No model that can chat is installed. '

--- Why the daemon found no model.
---@param fail fun(message: string)
local function explain(fail)
  models.list(function(list)
    local able = vim.tbl_filter(models.can_chat, list)
    local is_elsewhere = #able > 0 and vim.iter(able):all(function(model)
      return model.remote ~= nil
    end)
    fail(is_elsewhere and ('%s %s'):format(none_here, status.how_to_get()) or none .. status.how_to_get())
  end, fail)
end

--- The daemon's rule for every client: `chatModel`, else the last choice, else a loaded model, else the newest.
---@param take fun(name: string)
---@param fail fun(message: string)
function M.find(take, fail)
  connection.ask('runner/models/chatModel', vim.empty_dict(), function(result)
    if not result.model then
      return explain(fail)
    end
    if result.missing then
      local get = status.can('pull') and ('; get the other one with :RunnerPull %s'):format(result.missing) or ''
      notice.warn(missing:format(result.missing, result.model.name) .. get .. '.')
    end
    take(result.model.name)
  end, fail)
end

--- Keeps the user's choice for later chats. If that fails, no error is shown.
---@param name string
function M.choose(name)
  connection.request('runner/models/choose', { model = name }, function() end)
end

---@param take fun(name: string)
function M.pick(take)
  models.list(function(list)
    local able = vim.tbl_filter(models.can_chat, list)
    if #able == 0 then
      return notice.say(none .. status.how_to_get())
    end
    picker.pick(able, { prompt = 'Chat with', format_item = models.describer(able) }, function(chosen)
      M.choose(chosen.name)
      take(chosen.name)
    end)
  end)
end

---@param name string?
---@param take fun(name: string)
function M.if_installed(name, take)
  models.list(function(list)
    if vim.iter(list):any(function(one)
      return one.name == name
    end) then
      take(name)
    end
  end)
end

--- Calls back if a local model is not loaded. Errors are not shown, because the user did not ask.
---@param name string
---@param is_loading fun()
function M.watch_loading(name, is_loading)
  models.list(function(list)
    local model = vim.iter(list):find(function(one)
      return one.name == name
    end)
    if model and not model.remote and not model.running then
      is_loading()
    end
  end, function() end)
end

return M
