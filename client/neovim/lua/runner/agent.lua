--- The built-in tools in a chat: their mode, the commands that a model may run, and what it has changed.
local connection = require('runner.connection')
local controls = require('runner.controls')
local notice = require('runner.notice')
local picker = require('runner.picker')

local M = {}

--- What a model may do without a question.
---@type { mode: runner.AgentMode, means: string }[]
local modes = {
  { mode = 'read', means = 'it reads, and changes nothing' },
  { mode = 'ask', means = 'you are asked before each edit and each check' },
  { mode = 'edit', means = 'it edits without a question; you are asked before each check' },
  { mode = 'auto', means = 'it reads, edits and runs checks without a question' },
}

--- Whether models are offered the built-in tools, as far as it is known here.
---@return boolean
function M.is_on()
  return require('runner.options').current.builtinTools == true
end

---@param lead string
---@return string[]
function M.complete(lead)
  local names = vim.tbl_map(function(one)
    return one.mode
  end, modes)
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, names)
end

---@param chat runner.Chat
---@param wanted { mode: runner.AgentMode, means: string }
local function use_mode(chat, wanted)
  chat:use_mode(wanted.mode)
  notice.say(('the mode of this chat is %s: %s.'):format(wanted.mode, wanted.means))
end

--- Changes the mode of a chat, also during an answer. Without a name, the user chooses.
---@param chat runner.Chat
---@param name string
function M.set_mode(chat, name)
  for _, one in ipairs(modes) do
    if one.mode == name then
      return use_mode(chat, one)
    end
  end
  if name ~= '' then
    return notice.complain(('There is no mode "%s". There are: read, ask, edit, auto.'):format(controls.line(name, 40)))
  end
  picker.pick(modes, {
    prompt = 'What may the model do without a question?',
    kind = 'runner_mode',
    format_item = function(one)
      return ('%-5s %s'):format(one.mode, one.means)
    end,
  }, function(one)
    use_mode(chat, one)
  end)
end

---@param check runner.ListedCheck|runner.SuggestedCheck
---@return string
local function describe_check(check)
  local command = controls.line(table.concat(check.command, ' '), 200)
  local from = check.file and (' (%s suggests it; choose it to allow it)'):format(check.file) or ''
  return ('%s: %s%s'):format(controls.line(check.name, 40), command, from)
end

---@param check runner.ListedCheck|runner.SuggestedCheck
local function allow(check)
  local command = controls.line(table.concat(check.command, ' '), 200)
  local details = {
    title = ('Let models run "%s" here, until %s changes?'):format(command, check.file),
    lines = { 'A check runs the code of the project with your rights. You are asked before each call.' },
  }
  picker.confirm('Let models run it?', details, 'Let them', function()
    local params = { folder = check.folder, name = check.name, hash = check.hash }
    connection.ask('runner/checks/allow', params, function()
      notice.say(('the check %s counts from the next prompt on.'):format(controls.line(check.name, 40)))
    end)
  end)
end

--- Lists the commands that a model may run in this folder, and those that its files suggest.
function M.check()
  connection.ask('runner/checks/list', vim.empty_dict(), function(listed)
    connection.ask('runner/checks/suggest', vim.empty_dict(), function(suggested)
      local rows = vim.list_extend(listed.checks, suggested.suggestions)
      if #rows == 0 then
        return notice.say('a model may run no command in this folder, and nothing suggests one.')
      end
      picker.pick(rows, {
        prompt = 'Commands that a model may run here',
        kind = 'runner_checks',
        format_item = describe_check,
      }, function(check)
        if check.hash then
          allow(check)
        end
      end)
    end)
  end)
end

--- The places that a change touches, for the quickfix list.
---@param diff runner.FileDiff
---@return table[]
local function places_of(diff)
  local places, line, run = {}, 1, nil
  for _, text in ipairs(vim.split(diff.unified, '\n')) do
    local start = text:match('^@@ %-%S+ %+(%d+)')
    local sign = text:sub(1, 1)
    if start then
      line, run = math.max(1, tonumber(start) or 1), nil
    elseif sign == '+' or sign == '-' then
      run = run or { filename = diff.path, lnum = line, text = controls.line(text, 200) }
      if places[#places] ~= run then
        places[#places + 1] = run
      end
      line = line + (sign == '+' and 1 or 0)
    else
      line, run = line + 1, nil
    end
  end
  return places
end

---@param chat runner.Chat
---@param continue fun(result: runner.EditsResult, params: table)
local function with_edits(chat, continue)
  local params = chat.conversation:edits_params()
  if not params then
    return notice.say('nothing was changed in this chat.')
  end
  connection.ask('runner/edits/list', params, function(result)
    if result.count == 0 then
      return notice.say('the last answer has changed nothing that could be taken back.')
    end
    continue(result, params)
  end)
end

--- Shows what the last answer has changed, as a quickfix list.
---@param chat runner.Chat
function M.edits(chat)
  with_edits(chat, function(result)
    local places = {}
    for _, diff in ipairs(result.files) do
      vim.list_extend(places, places_of(diff))
    end
    vim.fn.setqflist({}, ' ', { title = 'Edits of the last answer', items = places })
    vim.cmd('botright copen')
  end)
end

---@param chat runner.Chat
---@param done string
---@param restored runner.RestoredEdits
local function report(chat, done, restored)
  -- A file that is open has changed.
  vim.cmd('silent! checktime')
  for _, left in ipairs(restored.left) do
    notice.warn(('%s stays as it is: %s'):format(controls.line(left.name, 200), controls.line(left.reason, 300)))
  end
  if restored.restored[1] then
    local text = ('%s the edits of %s.'):format(done, controls.line(table.concat(restored.restored, ', '), 500))
    chat:note_for_model(text)
  elseif not restored.left[1] then
    notice.say('no edits of this chat were taken back.')
  end
end

---@param chat runner.Chat
---@param method string
---@param params table
---@param done string
local function restore(chat, method, params, done)
  connection.ask(method, params, function(restored)
    report(chat, done, restored)
  end)
end

--- Takes the edits of the last answer back, after a question, or brings them back.
---@param chat runner.Chat
---@param is_redo boolean
function M.undo(chat, is_redo)
  if chat.conversation:is_answering() then
    return notice.warn('An answer is under way; <C-c> or :RunnerCancel ends it.')
  elseif is_redo then
    local session = chat.conversation.session
    if not session then
      return notice.say('no edits of this chat were taken back.')
    end
    return restore(chat, 'runner/edits/redo', { session = session }, 'The user brought back')
  end
  with_edits(chat, function(result, params)
    local edits = ('%d %s'):format(result.count, result.count == 1 and 'edit' or 'edits')
    local files = ('%d %s'):format(#result.files, #result.files == 1 and 'file' or 'files')
    picker.pick({ 'No', 'Yes', 'Show them' }, {
      prompt = ('Take back %s in %s?'):format(edits, files),
      kind = 'runner_undo',
    }, function(choice)
      if choice == 'Yes' then
        restore(chat, 'runner/edits/undo', params, 'The user took back')
      elseif choice == 'Show them' then
        M.edits(chat)
      end
    end)
  end)
end

return M
