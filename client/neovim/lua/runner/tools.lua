--- `:RunnerTools`: the tool servers, and which of them a chat uses.
local advice = require('runner.advice')
local connection = require('runner.connection')
local controls = require('runner.controls')
local notice = require('runner.notice')
local picker = require('runner.picker')

local M = {}

---@class runner.ToolRow
---@field server runner.ListedToolServer
---@field tool? { name: string, description: string }

local none = 'There is no tool server. Enter one as mcpServers in setup(); see :help runner-tools.'

---@param server runner.ListedToolServer
---@param chat runner.Chat
---@return string
local function state_of(server, chat)
  if server.needsLogin then
    return 'needs login'
  elseif server.state ~= 'ready' then
    return server.state
  end
  return chat.servers:has(server.name) and 'on' or 'off'
end

---@param server runner.ListedToolServer
---@param most integer Characters.
---@return string
local function describe(server, most)
  if server.needsLogin then
    return 'choose it to log in'
  elseif server.state ~= 'ready' then
    local problem = server.advice and server.advice.problem or server.message or ''
    -- The row begins with the name.
    local known = ('The tool server %s '):format(server.name)
    return controls.line(vim.startswith(problem, known) and problem:sub(#known + 1) or problem, most)
  end
  return ('%d %s'):format(#server.tools, #server.tools == 1 and 'tool' or 'tools')
end

---@param servers runner.ListedToolServer[]
---@param chat runner.Chat
---@return fun(row: runner.ToolRow): string
local function describer(servers, chat)
  local width = 0
  for _, server in ipairs(servers) do
    width = math.max(width, vim.fn.strdisplaywidth(controls.line(server.name, 64)))
    for _, tool in ipairs(server.tools) do
      width = math.max(width, vim.fn.strdisplaywidth(controls.line(tool.name, 40)) + 2)
    end
  end
  -- The editor numbers the rows. A wrapped row is hard to read, so the width includes the number.
  local room = math.max(30, vim.o.columns - width - 9)
  local function padded(text)
    return text .. (' '):rep(width - vim.fn.strdisplaywidth(text))
  end
  return function(row)
    if row.tool then
      local what = controls.line(vim.split(row.tool.description, '\n')[1], math.min(70, room))
      return (('%s  %s'):format(padded('  ' .. controls.line(row.tool.name, 40)), what):gsub('%s+$', ''))
    end
    local server = row.server
    local state = ('%-8s'):format(state_of(server, chat))
    return ('%s  %s  %s'):format(padded(controls.line(server.name, 64)), state, describe(server, room - #state - 2))
  end
end

---@param servers runner.ListedToolServer[]
---@return runner.ToolRow[]
local function rows_of(servers)
  local rows = {}
  for _, server in ipairs(servers) do
    rows[#rows + 1] = { server = server }
    for _, tool in ipairs(server.tools) do
      rows[#rows + 1] = { server = server, tool = tool }
    end
  end
  return rows
end

---@param server runner.ListedToolServer
---@param chat runner.Chat
local function switch(server, chat)
  local name = controls.line(server.name, 64)
  if server.needsLogin then
    return require('runner.login').start(server.name)
  elseif server.state == 'disabled' then
    return notice.say(('%s is disabled. Take "disabled" out of its entry in mcpServers.'):format(name))
  elseif server.state == 'failed' then
    return notice.complain(controls.line(advice.fit({ message = server.message or '', advice = server.advice }), 500))
  end
  local is_on = not chat.servers:has(server.name)
  chat.servers:switch(server.name, is_on)
  notice.say(('%s is %s for this chat.'):format(name, is_on and 'on' or 'off'))
end

--- Lists the tool servers, and switches the chosen one on or off.
---@param chat runner.Chat
function M.pick(chat)
  connection.ask('runner/tools/list', vim.empty_dict(), function(result)
    if #result.servers == 0 then
      return notice.say(none)
    end
    -- A Lua table has no order.
    table.sort(result.servers, function(a, b)
      return a.name < b.name
    end)
    chat.servers:know(result.servers)
    picker.pick(rows_of(result.servers), {
      prompt = 'Tools (choose one to switch its server on or off for this chat, or to log in)',
      kind = 'runner_tools',
      format_item = describer(result.servers, chat),
    }, function(row)
      switch(row.server, chat)
    end)
  end)
end

return M
