--- Downloads. Their progress is shown by the editor's own `LspProgress`.
local connection = require('runner.connection')
local controls = require('runner.controls')
local notice = require('runner.notice')

local M = {}

---@class runner.Pull
---@field model string
---@field token string
---@field request? runner.Request
---@field percentage? integer

--- The newest comes last.
---@type runner.Pull[]
local pulls = {}
local count = 0

---@param pull runner.Pull
local function forget(pull)
  pulls = vim.tbl_filter(function(other)
    return other ~= pull
  end, pulls)
  vim.cmd.redrawstatus({ bang = true })
end

---@param token any
---@return runner.Pull?
local function pull_of(token)
  return vim.iter(pulls):find(function(pull)
    return pull.token == token
  end)
end

--- Only if nothing else shows progress, so that it is not shown twice. In one row: after a longer message the editor
--- waits for a key. It writes `title: 100% message`.
---@param pull runner.Pull
---@param value { kind: string, title?: string, message?: string, percentage?: integer }
local function show(pull, value)
  if #vim.api.nvim_get_autocmds({ event = 'LspProgress' }) > 1 then
    return
  end
  local room = vim.v.echospace - #': 100% '
  local title = controls.fit(controls.line(('Pulling %s'):format(pull.model), room), room)
  local message = controls.fit(controls.line(value.message or '', room), room - vim.fn.strwidth(title))
  vim.api.nvim_echo({ { message } }, false, {
    id = pull.token,
    kind = 'progress',
    source = 'runner',
    title = title,
    status = value.kind == 'end' and 'success' or 'running',
    percent = value.percentage,
  })
end

local function watch()
  vim.api.nvim_create_autocmd('LspProgress', {
    group = vim.api.nvim_create_augroup('runner.pull', { clear = true }),
    callback = function(event)
      local params = event.data.params
      local pull = pull_of(params.token)
      if not pull then
        return
      end
      pull.percentage = params.value.percentage or pull.percentage
      show(pull, params.value)
      vim.cmd.redrawstatus({ bang = true })
      -- After a cancel by the token alone, the editor passes on no answer.
      if params.value.kind == 'end' and params.value.message == 'Cancelled' then
        pull.request.cancel()
      end
    end,
  })
end

---@param pull runner.Pull
---@param err runner.Error?
local function tell_end(pull, err)
  if not err then
    notice.say(('%s is installed.'):format(pull.model))
  elseif err.code == -32800 then
    notice.say(('The download of %s was cancelled. The next one goes on from there.'):format(pull.model))
  else
    notice.complain(err.message)
  end
end

---@param model string
function M.start(model)
  watch()
  count = count + 1
  ---@type runner.Pull
  local pull = { model = model, token = ('runner-pull-%d'):format(count) }
  pulls[#pulls + 1] = pull
  local params = { model = model, workDoneToken = pull.token }
  pull.request = connection.request('runner/models/pull', params, function(err)
    forget(pull)
    tell_end(pull, err)
  end)
end

--- Cancels the newest download.
---@return boolean whether there was one
function M.cancel()
  local newest = pulls[#pulls]
  if newest then
    newest.request.cancel()
  end
  return newest ~= nil
end

--- For the statusline.
---@return string?
function M.text()
  local newest = pulls[#pulls]
  return newest and ('Pulling %s %d%%'):format(newest.model, newest.percentage or 0)
end

--- A model's name alone, and with each of its sizes. The library is not trusted: sizes that are no tags are left out.
---@param entry { name: string, model: string, sizes?: string[] }
---@return string[]
local function names_of(entry)
  local names = { entry.model }
  for _, size in ipairs(entry.sizes or {}) do
    if size:match('^[%w_][%w_.-]*$') then
      names[#names + 1] = ('%s:%s'):format(entry.name, size)
    end
  end
  return names
end

--- The library's names with their sizes; none if there is no list.
---@param lead string
---@return string[]
function M.complete(lead)
  if not require('runner.status').can('catalog') then
    return {}
  end
  local result = connection.request_now('runner/models/library', vim.empty_dict(), 3000)
  local names = vim.iter(result and result.entries or {}):map(names_of):flatten():totable()
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, names)
end

return M
