--- Work of the daemon that takes long. The editor's own `LspProgress` shows how far it is.
local connection = require('runner.connection')
local controls = require('runner.controls')

local M = {}

---@class runner.Work
---@field token string
---@field title? string As the daemon calls it.
---@field request? runner.Request
---@field percentage? integer As soon as it is known.

--- The newest comes last.
---@type runner.Work[]
local works = {}
local count = 0

---@param work runner.Work
local function forget(work)
  works = vim.tbl_filter(function(other)
    return other ~= work
  end, works)
  vim.cmd.redrawstatus({ bang = true })
end

--- Only if nothing else shows progress, so that it is not shown twice. In one row: after a longer message the editor
--- waits for a key. It writes `title: 100% message`.
---@param work runner.Work
---@param value { kind: string, message?: string, percentage?: integer }
local function show(work, value)
  if #vim.api.nvim_get_autocmds({ event = 'LspProgress' }) > 1 then
    return
  end
  local room = vim.v.echospace - #': 100% '
  local title = controls.fit(controls.line(work.title or '', room), room)
  local message = controls.fit(controls.line(value.message or '', room), room - vim.fn.strwidth(title))
  vim.api.nvim_echo({ { message } }, false, {
    id = work.token,
    kind = 'progress',
    source = 'runner',
    title = title,
    status = value.kind == 'end' and 'success' or 'running',
    percent = value.percentage,
  })
end

local function watch()
  vim.api.nvim_create_autocmd('LspProgress', {
    group = vim.api.nvim_create_augroup('runner.work', { clear = true }),
    callback = function(event)
      local params = event.data.params
      local work = vim.iter(works):find(function(one)
        return one.token == params.token
      end)
      if not work then
        return
      end
      local value = params.value
      work.title = value.title or work.title
      if value.kind == 'report' then
        work.percentage = value.percentage or work.percentage
      end
      show(work, value)
      vim.cmd.redrawstatus({ bang = true })
      -- After a cancel by the token alone, the editor passes on no answer.
      if value.kind == 'end' and value.message == 'Cancelled' then
        work.request.cancel()
      end
    end,
  })
end

---@param method string
---@param params table
---@param done runner.Done Called once; `is_cancelled` recognises an error that the user caused.
function M.start(method, params, done)
  watch()
  count = count + 1
  ---@type runner.Work
  local work = { token = ('runner-work-%d'):format(count) }
  works[#works + 1] = work
  local all = vim.tbl_extend('force', params, { workDoneToken = work.token })
  work.request = connection.request(method, all, function(err, result)
    forget(work)
    done(err, result)
  end)
end

---@param err runner.Error
---@return boolean
function M.is_cancelled(err)
  return err.code == -32800
end

--- Cancels the newest.
---@return boolean whether there was one
function M.cancel()
  local newest = works[#works]
  if newest then
    newest.request.cancel()
  end
  return newest ~= nil
end

--- For the statusline.
---@return string?
function M.text()
  local newest = works[#works]
  if not newest or not newest.title then
    return nil
  end
  local title = controls.line(newest.title, 100)
  return newest.percentage and ('%s %d%%'):format(title, newest.percentage) or title
end

return M
