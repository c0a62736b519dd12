--- `:RunnerLogin` and `:RunnerLogout` for tool servers at an address. The daemon logs in; this module opens the browser.
local connection = require('runner.connection')
local controls = require('runner.controls')
local notice = require('runner.notice')
local pane = require('runner.pane')

local M = {}

--- Logins that wait for the browser, by server name.
---@type table<string, runner.Request>
local waiting = {}

--- Without a screen, the editor might start a browser in its own terminal.
---@return boolean
local function has_browser()
  if vim.env.SSH_CONNECTION then
    return false
  end
  local has_screen = vim.env.DISPLAY ~= nil or vim.env.WAYLAND_DISPLAY ~= nil
  return has_screen or vim.fn.has('mac') == 1 or vim.fn.has('win32') == 1
end

--- The daemon names a parameter, which is an argument of the command here.
---@param err runner.Error
---@return string
local function sentence_of(err)
  local why = err.data and err.data.path == 'server' and err.data.problem
  return why and ('%s%s.'):format(why:sub(1, 1):upper(), why:sub(2)) or err.message
end

--- Shows the address where it can be copied, until the login ends.
---@param server string
---@param login { url: string }
---@return fun() close
local function show(server, login)
  local name = controls.line(server, 64)
  if has_browser() and login.url:match('^https?://') then
    vim.ui.open(login.url)
  end
  return pane.show(('Log in to %s'):format(name), {
    'Open this address in your browser:',
    '',
    controls.line(login.url, 8000),
    '',
    'If it ends at a page that it cannot open, because it is on another machine,',
    (':RunnerLogin %s ADDRESS takes the address of that page.'):format(name),
  })
end

---@param server string
---@param close fun() Closes the window that shows the address.
local function wait(server, close)
  local request
  local is_over = false
  request = connection.request('runner/tools/finishLogin', { server = server }, function(err)
    is_over = true
    close()
    if waiting[server] ~= request then
      return
    end
    waiting[server] = nil
    local name = controls.line(server, 64)
    if not err then
      notice.say(('You are logged in to %s.'):format(name))
    elseif err.code == -32800 then
      notice.say(('The login to %s was cancelled.'):format(name))
    else
      notice.complain(err.message)
    end
  end)
  -- The login may fail at once.
  waiting[server] = not is_over and request or nil
end

--- Begins a login, or finishes one with the address to which a browser on another machine was redirected.
---@param server string
---@param redirected_to? string
function M.start(server, redirected_to)
  if redirected_to then
    local params = { server = server, redirectedTo = redirected_to }
    connection.request('runner/tools/finishLogin', params, function(err)
      -- A valid address ends the waiting login, which reports the result.
      if err then
        notice.complain(sentence_of(err))
      end
    end)
    return
  end
  connection.request('runner/tools/login', { server = server }, function(err, login)
    if err then
      return notice.complain(sentence_of(err))
    end
    -- The daemon has ended an earlier login to this server.
    waiting[server] = nil
    wait(server, show(server, login))
  end)
end

---@param server string
function M.logout(server)
  connection.request('runner/tools/logout', { server = server }, function(err, result)
    local name = controls.line(server, 64)
    if err then
      notice.complain(sentence_of(err))
    elseif not result.wasLoggedIn then
      notice.say(('You were not logged in to %s.'):format(name))
    elseif result.isRevoked then
      notice.say(('You are logged out of %s, and its login is revoked.'):format(name))
    else
      notice.say(('You are logged out of %s. The server did not confirm that the login has ended.'):format(name))
    end
  end)
end

--- Cancels a login that waits for the browser.
---@return boolean whether there was one
function M.cancel()
  local _, request = next(waiting)
  if request then
    request.cancel()
  end
  return request ~= nil
end

--- The servers in `setup` that have an address. The argument after the server is an address itself.
---@param lead string
---@param line string Up to the cursor.
---@return string[]
function M.complete(lead, line)
  if not line:match('^%S+%s+%S*$') then
    return {}
  end
  local servers = require('runner.options').current.mcpServers or {}
  local names = vim.tbl_filter(function(name)
    return servers[name].url ~= nil and vim.startswith(name, lead)
  end, vim.tbl_keys(servers))
  table.sort(names)
  return names
end

return M
