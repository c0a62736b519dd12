--- The installed models and the actions on them.
local connection = require('runner.connection')
local notice = require('runner.notice')
local picker = require('runner.picker')

local M = {}

---@class runner.Model
---@field name string
---@field size? integer
---@field capabilities table<string, { value: boolean|'unknown' }>
---@field running? table
---@field remote? { host: string, model: string }

---@param model runner.Model
---@param capability string
---@return boolean
local function can(model, capability)
  return model.capabilities[capability].value == true
end

--- Whether a model can do more than embed. If the runner does not say, it counts.
---@param model runner.Model
---@return boolean
function M.can_chat(model)
  return model.capabilities.completion.value ~= false
end

---@param bytes integer
---@return string
local function to_size(bytes)
  if bytes >= 1e9 then
    return ('%.1f GB'):format(bytes / 1e9)
  end
  return ('%.0f MB'):format(math.max(bytes / 1e6, 1))
end

---@param model runner.Model
---@return string[]
local function columns_of(model)
  local abilities = vim.tbl_filter(function(name)
    return can(model, name)
  end, { 'tools', 'vision', 'thinking', 'insert', 'embedding' })
  return {
    model.name,
    model.size and to_size(model.size) or '',
    table.concat(abilities, ', '),
    model.remote and 'remote' or model.running and 'loaded' or '',
  }
end

--- The details of each model, in columns.
---@param models runner.Model[]
---@return fun(model: runner.Model): string
function M.describer(models)
  local widths = { 0, 0, 0, 0 }
  for _, model in ipairs(models) do
    for index, text in ipairs(columns_of(model)) do
      widths[index] = math.max(widths[index], vim.fn.strdisplaywidth(text))
    end
  end
  -- A name that is too long wraps its own row, and not those of all models. The editor numbers the rows.
  local others = widths[2] + widths[3] + widths[4] + 3 * #'  '
  widths[1] = math.min(widths[1], math.max(20, vim.o.columns - #'99: ' - 1 - others))
  return function(model)
    local cells = {}
    for index, text in ipairs(columns_of(model)) do
      local blanks = (' '):rep(widths[index] - vim.fn.strdisplaywidth(text))
      -- Sizes are aligned on the right.
      cells[index] = index == 2 and blanks .. text or text .. blanks
    end
    return vim.trim(table.concat(cells, '  '))
  end
end

---@param take fun(models: runner.Model[])
---@param fail? fun(message: string) Default: it is shown.
function M.list(take, fail)
  connection.request('runner/models/list', vim.empty_dict(), function(err, result)
    if err then
      (fail or notice.complain)(err.message)
    else
      take(result.models)
    end
  end)
end

---@param method string
---@param params table
---@param said string What is said once it is done.
local function run(method, params, said)
  connection.request(method, params, function(err)
    if err then
      notice.complain(err.message)
    else
      notice.say(said)
    end
  end)
end

---@param model runner.Model
local function delete(model)
  local prompt = model.running and ('%s is loaded. Unload and delete it?'):format(model.name)
    or ('Delete %s from the disk?'):format(model.name)
  picker.confirm_deletion(prompt, function()
    run('runner/models/delete', { model = model.name, stop = true }, model.name .. ' was deleted.')
  end)
end

---@param name string
local function copy(name)
  vim.fn.setreg('"', name)
  -- Without a clipboard this register is refused.
  pcall(vim.fn.setreg, '+', name)
  notice.say(('Copied %s.'):format(name))
end

---@param model runner.Model
---@return runner.Action[]
local function actions_of(model)
  local params = { model = model.name }
  local load = {
    title = 'Load',
    run = function()
      run('runner/models/run', params, model.name .. ' is loaded.')
    end,
  }
  local unload = {
    title = 'Unload',
    run = function()
      run('runner/models/stop', params, model.name .. ' was unloaded.')
    end,
  }
  local chat = {
    title = 'Chat',
    run = function()
      require('runner.chat').open({ model = model.name })
    end,
  }
  return vim.list_extend(M.can_chat(model) and { chat } or {}, {
    model.running and unload or load,
    {
      title = 'Delete',
      run = function()
        delete(model)
      end,
    },
    {
      title = 'Copy name',
      run = function()
        copy(model.name)
      end,
    },
  })
end

function M.pick()
  M.list(function(models)
    if #models == 0 then
      return notice.say('No model is installed. Get one with :RunnerPull NAME.')
    end
    picker.pick(models, { prompt = 'Models', format_item = M.describer(models) }, function(model)
      picker.pick_action(model.name, actions_of(model))
    end)
  end)
end

return M
