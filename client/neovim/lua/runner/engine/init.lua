--- `:RunnerEngine`: a model on this machine, for a user who has no runner. Its words are those of the terminal's
--- `runner engine`.
local connection = require('runner.connection')
local controls = require('runner.controls')
local models = require('runner.models')
local notice = require('runner.notice')
local picker = require('runner.picker')
local steps = require('runner.engine.steps')
local ways = require('runner.engine.ways')

local M = {}

--- A file counts as a path; any other word is a name, which may have a slash, too.
---@param word string
---@return string
local function path_or_name(word)
  local path = vim.fs.abspath(vim.fs.normalize(word))
  local looks_like_path = word:lower():match('%.gguf$') or word:match('^[.~]*/')
  return (looks_like_path or vim.uv.fs_stat(path)) and path or word
end

---@param model string?
local function start(model)
  steps.start({ model = model and path_or_name(model), keep = true })
end

local function show_status()
  steps.ask('runner/engine/status', vim.empty_dict(), function(engine)
    local sentences = {
      steps.fit(engine.message),
      ('The engine is %sinstalled.'):format(engine.isInstalled and '' or 'not '),
      engine.sample and ('The small model is %s.'):format(controls.line(engine.sample, 500)),
    }
    notice.answer(table.concat(sentences, ' '))
  end)
end

---@param what 'library'|'sample'
---@param is_there string
---@param done string
local function fetch(what, is_there, done)
  steps.ask('runner/engine/offers', vim.empty_dict(), function(offers)
    local offer = offers[what]
    if offer.problem then
      return steps.complain(offer.problem)
    elseif offer.isThere then
      return notice.answer(is_there)
    end
    local one = { what = what, bytes = offer.bytes, description = steps.describe(offer) }
    local warned = what == 'sample' and vim.iter(offers.ways):find(function(way)
      return way.warning ~= nil
    end)
    steps.ask_and_fetch({ one }, warned and warned.warning or nil, function()
      notice.answer(done)
    end)
  end)
end

---@param list runner.EngineModel[]
---@return fun(model: runner.EngineModel): string
local function describer(list)
  local width = 0
  for _, model in ipairs(list) do
    width = math.max(width, vim.fn.strdisplaywidth(controls.line(model.name, 60)))
  end
  return function(model)
    local name = controls.line(model.name, 60)
    local blanks = (' '):rep(width - vim.fn.strdisplaywidth(name))
    local size = ('%8s'):format(models.to_size(model.size))
    local source = ('%s%s'):format(model.source, model.fits and '' or ', too large for the memory')
    return ('%s%s  %s  %s'):format(name, blanks, size, source)
  end
end

---@param path string?
local function pick_model(path)
  local params = path and { path = vim.fs.abspath(vim.fs.normalize(path)) } or vim.empty_dict()
  steps.ask('runner/engine/models', params, function(found)
    if #found.models == 0 then
      return notice.answer('No model file (GGUF) was found on this machine. :RunnerEngine sample fetches a small one.')
    end
    local prompt = 'Model files on this machine (choose one to start it)'
    picker.pick(found.models, { prompt = prompt, format_item = describer(found.models) }, function(model)
      start(model.path)
    end)
  end)
end

local function remove()
  steps.ask('runner/engine/remove', vim.empty_dict(), function(answer)
    notice.say(answer.wasThere and 'The engine and its small model are removed.' or 'Nothing was installed.')
  end)
end

---@type table<string, fun(argument: string?)>
local words = {
  start = start,
  stop = ways.stop,
  status = show_status,
  install = function()
    fetch('library', 'The engine is installed already.', 'The engine is installed. :RunnerEngine models lists models.')
  end,
  sample = function()
    local next_step = ':RunnerEngine start starts it.'
    fetch('sample', 'The small model is there already. ' .. next_step, 'The small model is there. ' .. next_step)
  end,
  models = pick_model,
  remove = remove,
}

local takes_argument = { start = true, models = true }

--- In the order in which they are completed.
local names = { 'start', 'stop', 'status', 'install', 'sample', 'models', 'remove' }

---@param arguments string The words after the command.
function M.run(arguments)
  local name, argument = arguments:match('^(%S+)%s*(.-)%s*$')
  if not name then
    return ways.offer()
  elseif not words[name] then
    return notice.warn((':RunnerEngine takes one of: %s.'):format(table.concat(names, ', ')))
  elseif argument ~= '' and not takes_argument[name] then
    return notice.warn((':RunnerEngine %s takes no further words.'):format(name))
  end
  words[name](argument ~= '' and argument or nil)
end

--- Files, or the names of models.
---@param lead string
---@return string[]
local function complete_model(lead)
  if lead:match('^[.~]*/') then
    return vim.fn.getcompletion(lead, 'file')
  end
  local found = connection.request_now('runner/engine/models', vim.empty_dict(), 3000)
  return vim
    .iter(found and found.models or {})
    :map(function(model)
      return model.name
    end)
    :filter(function(name)
      return vim.startswith(name, lead) and not name:find('%c')
    end)
    :totable()
end

---@param lead string
---@param line string Up to the cursor.
---@return string[]
function M.complete(lead, line)
  if line:match('RunnerEngine%s+%S*$') then
    return vim.tbl_filter(function(name)
      return vim.startswith(name, lead)
    end, names)
  elseif line:match('RunnerEngine%s+start%s+[^%s]*$') then
    return complete_model(lead)
  end
  return line:match('RunnerEngine%s+models%s') and vim.fn.getcompletion(lead, 'dir') or {}
end

return M
