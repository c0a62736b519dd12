--- What a tool server wants to know during a call. The user is asked in the chat of the call and in normal mode, one
--- value after another; the daemon checks them.
local approval = require('runner.approval')
local controls = require('runner.controls')
local notice = require('runner.notice')
local pane = require('runner.pane')
local picker = require('runner.picker')

local M = {}

--- In ms between two checks whether the user can be asked.
local period = 100
local is_asking = false

--- Every word of the server stands behind a bar, so that none passes for a word of Runner.
---@param question runner.ElicitParams
---@return string[]
local function lines_of(question)
  local lines = vim.tbl_map(function(line)
    return '│ ' .. line
  end, vim.split(controls.visible(question.message), '\n'))
  for _, text in ipairs({ question.problem or '', question.url or '' }) do
    if text ~= '' then
      lines[#lines + 1] = '│ ' .. controls.line(text, 4000)
    end
  end
  if question.warning then
    lines[#lines + 1] = controls.line(question.warning, 500)
  end
  return lines
end

---@param field runner.ElicitField
---@return string
local function prompt_of(field)
  local about = field.description and (' (%s)'):format(controls.line(field.description, 200)) or ''
  local rest = field.default == nil and not field.required and ', or nothing' or ''
  return ('%s%s%s: '):format(controls.line(field.title or field.name, 100), about, rest)
end

--- Calls back at once or later: with nil if the user leaves the question, with '' if the value is left out.
---@param field runner.ElicitField
---@param take fun(value: any)
local function ask_value(field, take)
  if field.type == 'choice' or field.type == 'boolean' then
    local options = field.options or { { value = 'yes', title = 'Yes' }, { value = 'no', title = 'No' } }
    local rows = vim.list_extend({}, options)
    if not field.required or field.default ~= nil then
      table.insert(rows, { value = '', title = 'Leave it out' })
    end
    return picker.select(rows, {
      prompt = prompt_of(field),
      kind = 'runner_elicit',
      format_item = function(row)
        return controls.line(row.title, 100)
      end,
    }, function(row)
      take(row and row.value)
    end)
  end
  local titles = vim.tbl_map(function(option)
    return controls.line(option.title, 100)
  end, field.options or {})
  local of = #titles > 0 and ('%s[%s] '):format(prompt_of(field), table.concat(titles, ', ')) or prompt_of(field)
  local is_done = pcall(vim.ui.input, { prompt = of }, take)
  if not is_done then
    take(nil)
  end
end

---@param fields runner.ElicitField[]
---@param index integer
---@param content table<string, any>
---@param answer fun(result: table)
local function ask_values(fields, index, content, answer)
  local field = fields[index]
  if not field then
    return answer({ action = 'accept', content = next(content) and content or vim.empty_dict() })
  end
  ask_value(field, function(value)
    if value == nil then
      return answer({ action = 'cancel' })
    end
    content[field.name] = value ~= '' and value or nil
    ask_values(fields, index + 1, content, answer)
  end)
end

---@param question runner.ElicitParams
---@param answer fun(result: table)
local function ask(question, answer)
  local server = controls.line(question.server, 64)
  local window = vim.api.nvim_get_current_win()
  local close = pane.show(('The tool server %s asks you'):format(server), lines_of(question), 'above')
  local function finish(result)
    close()
    if vim.api.nvim_win_is_valid(window) then
      vim.api.nvim_set_current_win(window)
    end
    answer(result)
  end
  if question.problem then
    return ask_values(question.fields, 1, {}, finish)
  end
  local prompt = question.url
      and ('%s wants you to open a page of %s. Did you?'):format(server, controls.line(question.host or '', 200))
    or ('Answer %s?'):format(server)
  vim.cmd.redraw()
  picker.select({ 'No', 'Yes' }, { prompt = prompt, kind = 'runner_elicit' }, function(choice)
    if choice ~= 'Yes' then
      return finish({ action = choice == 'No' and 'decline' or 'cancel' })
    end
    ask_values(question.fields, 1, {}, finish)
  end)
end

---@param question runner.ElicitParams
---@return boolean
local function may_ask(question)
  local chat = approval.chat_of(question)
  local is_there = chat ~= nil and vim.api.nvim_get_current_buf() == chat.bufnr
  return is_there and picker.may_open() and not is_asking and not approval.is_asking()
end

--- A question whose answer was cancelled needs none.
---@param question runner.ElicitParams
---@param answer fun(result: { action: string, content?: table }) Called once, not necessarily later.
function M.ask(question, answer)
  local has_said = false
  local function check()
    if not approval.chat_of(question) then
      return answer({ action = 'cancel' })
    elseif may_ask(question) then
      is_asking = true
      return ask(question, function(result)
        is_asking = false
        answer(result)
      end)
    end
    if not has_said then
      has_said = true
      notice.say(('the tool server %s asks you something. Go to the chat to answer.'):format(
        controls.line(question.server, 64)
      ))
    end
    vim.defer_fn(check, period)
  end
  check()
end

return M
