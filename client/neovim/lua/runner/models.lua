--- The installed models and the actions on them.
local connection = require('runner.connection')
local notice = require('runner.notice')
local picker = require('runner.picker')
local status = require('runner.status')

local M = {}

---@param model runner.Model
---@param capability string
---@return boolean
local function can(model, capability)
  return model.capabilities[capability].value == true
end

--- Whether a model can do more than embed. If the runner does not say, its name decides.
---@param model runner.Model
---@return boolean
function M.can_chat(model)
  local completion = model.capabilities.completion.value
  return completion ~= false and not (completion == 'unknown' and can(model, 'embedding'))
end

---@param bytes integer
---@return string
function M.to_size(bytes)
  if bytes >= 1e9 then
    return ('%.1f GB'):format(bytes / 1e9)
  end
  return ('%.0f MB'):format(math.max(bytes / 1e6, 1))
end

--- The tokens of its window; one that nobody has said is marked.
---@param context { allocated?: integer, configured?: integer, maximum?: integer, from?: string }
---@return string
local function to_window(context)
  local tokens = context.allocated or context.configured or context.maximum
  if not tokens then
    return ''
  end
  local is_marked = context.from == 'assumed' or context.from == 'observed'
  return ('%d tokens'):format(tokens) .. (is_marked and ' ' .. context.from or '')
end

---@param model runner.Model
---@return string
local function to_state(model)
  if model.loading then
    local percent = model.loading.percent
    return 'loading' .. (percent and (' %d %%'):format(math.floor(percent + 0.5)) or '')
  end
  return model.remote and 'remote' or model.running and 'loaded' or ''
end

---@param model runner.Model
---@return string[]
local function columns_of(model)
  local abilities = {}
  for _, name in ipairs({ 'tools', 'vision', 'thinking', 'insert', 'embedding' }) do
    if can(model, name) then
      local is_said = model.capabilities[name].from == 'configured'
      abilities[#abilities + 1] = name .. (is_said and ' (configured)' or '')
    end
  end
  return {
    model.name,
    model.size and M.to_size(model.size) or '',
    table.concat(abilities, ', '),
    to_window(model.context),
    to_state(model),
  }
end

--- How much a name should have at least, in columns.
local least_name = 20

--- The details of each model, in columns. The windows are left out where the screen is too narrow for them.
---@param models runner.Model[]
---@return fun(model: runner.Model): string
function M.describer(models)
  local widths = { 0, 0, 0, 0, 0 }
  for _, model in ipairs(models) do
    for index, text in ipairs(columns_of(model)) do
      widths[index] = math.max(widths[index], vim.fn.strdisplaywidth(text))
    end
  end
  -- A name that is too long wraps its own row, and not those of all models. The editor numbers the rows.
  local room = vim.o.columns - #'99: ' - 1
  local others = widths[2] + widths[3] + widths[5] + 3 * #'  '
  local has_windows = widths[4] > 0 and math.min(widths[1], least_name) + others + #'  ' + widths[4] <= room
  if has_windows then
    others = others + #'  ' + widths[4]
  end
  widths[1] = math.min(widths[1], math.max(least_name, room - others))
  return function(model)
    local cells = {}
    for index, text in ipairs(columns_of(model)) do
      local blanks = (' '):rep(widths[index] - vim.fn.strdisplaywidth(text))
      if index ~= 4 or has_windows then
        -- Sizes and windows are aligned on the right.
        cells[#cells + 1] = (index == 2 or index == 4) and blanks .. text or text .. blanks
      end
    end
    return vim.trim(table.concat(cells, '  '))
  end
end

--- The models of all servers. The name of one of a further server begins with that server's.
---@param take fun(models: runner.Model[])
---@param fail? fun(message: string) Default: it is shown.
function M.list(take, fail)
  connection.ask('runner/models/list', { everywhere = true }, function(result)
    take(result.models)
  end, fail)
end

---@param method string
---@param params table
---@param said string What is said once it is done.
local function run(method, params, said)
  connection.ask(method, params, function()
    notice.say(said)
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
  -- The daemon says what another server cannot do.
  local is_further = model.server ~= 'default'
  local actions = {}
  local function offer(is_possible, title, act)
    if is_possible then
      actions[#actions + 1] = { title = title, run = act }
    end
  end
  offer(M.can_chat(model), 'Chat', function()
    require('runner.chat').open({ model = model.name })
  end)
  offer(not model.running and (is_further or status.can('load')), 'Load', function()
    run('runner/models/run', params, model.name .. ' is loaded.')
  end)
  offer(model.running and (is_further or status.can('unload')), 'Unload', function()
    run('runner/models/stop', params, model.name .. ' was unloaded.')
  end)
  offer(is_further or status.can('delete'), 'Delete', function()
    delete(model)
  end)
  offer(true, 'Copy name', function()
    copy(model.name)
  end)
  return actions
end

function M.pick()
  M.list(function(models)
    if #models == 0 then
      return notice.say('No model is installed. ' .. status.how_to_get())
    end
    local product = status.product()
    local is_usual = product == nil or product == 'Ollama' or models[#models].server ~= 'default'
    local prompt = is_usual and 'Models' or ('Models of %s'):format(product)
    picker.pick(models, { prompt = prompt, format_item = M.describer(models) }, function(model)
      picker.pick_action(model.name, actions_of(model))
    end)
  end)
end

return M
