--- `/name` in a prompt: what is kept as a file under this name, or what a tool server offers under it, is sent in its
--- place.
local connection = require('runner.connection')
local notice = require('runner.notice')
local picker = require('runner.picker')

local M = {}

--- What is sent for what was typed.
---@class runner.FoundPrompt
---@field text string
---@field name? string Of the prompt.
---@field images? string[] Base64. Only a prompt of a tool server has them.
---@field model? string For this turn only.
---@field tools? string[] For this turn only.

--- In ms that the completion of a name waits for the list.
local patience = 1000

---@param folder { path: string, files: integer }
---@param take fun(is_allowed: boolean)
---@param leave fun() Called instead if the user chooses nothing.
local function ask_about(folder, take, leave)
  local what = folder.files == 1 and 'the prompt' or ('the %d prompts'):format(folder.files)
  local question = ('Use %s of this workspace from now on, in %s? '):format(what, vim.fn.strtrans(folder.path))
  picker.select({ 'No', 'Yes' }, { prompt = question }, function(choice)
    if choice then
      take(choice == 'Yes')
    else
      leave()
    end
  end)
end

---@param params table
---@param take fun(found: table)
---@param refuse fun(message?: string)
local function get(params, take, refuse)
  connection.ask('runner/prompts/get', params, function(found)
    if found.kind ~= 'unasked' then
      return take(found)
    end
    ask_about(found.folder, function(is_allowed)
      local answer = { cwd = params.cwd, allowed = is_allowed }
      connection.ask('runner/prompts/allow', answer, function()
        if not is_allowed then
          return refuse()
        end
        connection.ask('runner/prompts/get', params, take, refuse)
      end, refuse)
    end, refuse)
  end, refuse)
end

--- Text that calls no prompt is sent as it is, at once.
---@param typed string
---@param take fun(found: runner.FoundPrompt)
---@param leave? fun() Called instead if nothing is to be sent; the user knows why.
function M.find(typed, take, leave)
  local name, text = typed:match('^/([^%s/]+)%s*(.*)$')
  if not name then
    return take({ text = typed })
  end
  local function refuse(message)
    if message then
      notice.complain('Nothing was sent. ' .. message)
    end
    if leave then
      leave()
    end
  end
  get({ name = name, text = text, cwd = vim.uv.cwd() }, function(found)
    if found.kind == 'prompt' then
      take(found)
    elseif found.kind == 'none' then
      take({ text = typed })
    else
      refuse(found.message)
    end
  end, refuse)
end

--- The prompts that can be used.
---@return table[]
local function usable()
  local listed = connection.request_now('runner/prompts/list', { cwd = vim.uv.cwd() }, patience)
  return vim.tbl_filter(function(prompt)
    return not prompt.problem and not prompt.hiddenBy
  end, listed and listed.prompts or {})
end

---@param prompt table
---@return string
local function arguments_of(prompt)
  local words = vim.tbl_map(function(argument)
    return argument.required and argument.name or ('[%s]'):format(argument.name)
  end, prompt.arguments)
  return table.concat(words, ' ')
end

--- For the completion of a word that begins with a slash: each with what it is about.
---@param base string
---@return table[]
function M.complete_names(base)
  local found = {}
  for _, prompt in ipairs(usable()) do
    local word = '/' .. prompt.name
    if vim.startswith(word, base) then
      found[#found + 1] = { word = word, menu = vim.trim(arguments_of(prompt) .. '  ' .. prompt.description) }
    end
  end
  return found
end

--- What a tool server offers for the value of an argument.
---@param prompt table
---@param argument string
---@param value string
---@return string[]
local function complete_value(prompt, argument, value)
  local params = { name = prompt.name, argument = argument, value = value }
  local found = connection.request_now('runner/prompts/complete', params, patience)
  return vim.tbl_map(function(offered)
    local word = offered:find('[%s"\']') and ('"%s"'):format(offered:gsub('["\\]', '\\%0')) or offered
    return ('%s=%s'):format(argument, word)
  end, found and found.values or {})
end

--- The names of the arguments that a line does not name yet, or values of the one before the cursor.
---@param line string Up to the cursor; it begins with the name of a prompt.
---@param base string
---@return string[]
function M.complete_arguments(line, base)
  local name = line:match('^/(%S+)%s')
  local named, value = base:match('^([^%s=]+)=(.*)$')
  local found = {}
  for _, prompt in ipairs(usable()) do
    if named and prompt.name == name and prompt.from == 'server' then
      return complete_value(prompt, named, value)
    end
    for _, argument in ipairs(prompt.name == name and prompt.arguments or {}) do
      local word = argument.name .. '='
      if vim.startswith(word, base) and not line:find(' ' .. word, 1, true) then
        found[#found + 1] = word
      end
    end
  end
  return found
end

return M
