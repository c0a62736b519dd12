--- Which model answers, until somebody chooses one.
local connection = require('runner.connection')
local models = require('runner.models')

local M = {}

local none_here = table.concat({
  'Nothing was sent: every model that can chat runs elsewhere.',
  'Choose one of them with gm, or get one of your own with :RunnerPull NAME.',
}, ' ')
local none = 'No model that can chat is installed. Get one with :RunnerPull NAME.'

---@param list runner.Model[]
---@return string? name The one that is loaded, else the newest. What runs elsewhere answers only who chose it.
local function first_choice(list)
  local able = vim.tbl_filter(function(one)
    return models.can_chat(one) and not one.remote
  end, list)
  local loaded = vim.iter(able):find(function(one)
    return one.running ~= nil
  end)
  local first = loaded or able[1]
  return first and first.name
end

---@param take fun(name: string)
---@param fail fun(message: string)
function M.find(take, fail)
  models.list(function(list)
    local name = first_choice(list)
    if name then
      return take(name)
    end
    fail(vim.iter(list):any(models.can_chat) and none_here or none)
  end, fail)
end

---@param take fun(name: string)
function M.pick(take)
  models.list(function(list)
    local able = vim.tbl_filter(models.can_chat, list)
    if #able == 0 then
      return require('runner.notice').say(none)
    end
    vim.ui.select(able, { prompt = 'Chat with', format_item = models.describer(able) }, function(chosen)
      if chosen then
        take(chosen.name)
      end
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

--- Of a model that runs here and is not in memory, says so. Nobody asked for it: what fails is not told.
---@param name string
---@param is_loading fun()
function M.watch_loading(name, is_loading)
  local function is_it(model)
    return model.name == name
  end
  models.list(function(list)
    local model = vim.iter(list):find(is_it)
    if not model or model.remote then
      return
    end
    connection.request('runner/models/running', vim.empty_dict(), function(_, result)
      if result and not vim.iter(result.models):any(is_it) then
        is_loading()
      end
    end)
  end, function() end)
end

return M
