--- What leads to a model on this machine: what is fetched, after a yes, and what is started.
local connection = require('runner.connection')
local controls = require('runner.controls')
local models = require('runner.models')
local notice = require('runner.notice')
local options = require('runner.options')
local picker = require('runner.picker')
local status = require('runner.status')
local work = require('runner.work')

local M = {}

local fetch_methods = { library = 'runner/engine/install', sample = 'runner/engine/sample' }

--- Characters of a sentence of the daemon. It may have the path of a folder.
local most = 2000

--- The daemon's sentences name the commands of the terminal, such as `"runner engine start FILE"`. Here the same words
--- stand after another one.
---@param message string
---@return string
function M.fit(message)
  return controls.line((message:gsub('"runner engine ([^"]+)"', ':RunnerEngine %1')), most)
end

---@param message string
function M.complain(message)
  notice.complain(M.fit(message))
end

---@param method string
---@param params table
---@param take fun(answer: any)
function M.ask(method, params, take)
  connection.ask(method, params, take, M.complain)
end

--- What a user should know before something is fetched, as the daemon says it of a way.
---@param offer { bytes: integer, packages: integer, licenses: string, from: string, folder: string }
---@return string
function M.describe(offer)
  local what = offer.packages == 1 and '1 package' or ('%d packages'):format(offer.packages)
  local size = models.to_size(offer.bytes)
  local sentence = 'This fetches about %s (%s; licenses: %s) from %s, into %s.'
  return sentence:format(size, what, offer.licenses, offer.from, offer.folder)
end

---@param fetches runner.EngineFetch[]
---@param done fun() Not called if one fails or is cancelled, which the user then knows.
function M.fetch(fetches, done)
  local first = fetches[1]
  if not first then
    return done()
  end
  work.start(fetch_methods[first.what], {}, function(err)
    if not err then
      M.fetch(vim.list_slice(fetches, 2), done)
    elseif work.is_cancelled(err) then
      notice.answer('The download was cancelled, and nothing is left of it. :RunnerEngine offers it again.')
    else
      M.complain(err.message)
    end
  end)
end

--- Says how much comes from where, and fetches it after a yes.
---@param fetches runner.EngineFetch[]
---@param warning string?
---@param done fun() Called at once if nothing is to be fetched.
function M.ask_and_fetch(fetches, warning, done)
  if #fetches == 0 then
    return done()
  end
  local bytes = 0
  local lines = warning and { controls.line(warning, most), '' } or {}
  for _, fetch in ipairs(fetches) do
    bytes = bytes + fetch.bytes
    vim.list_extend(lines, { controls.line(fetch.description, most), '' })
  end
  lines[#lines + 1] = ':RunnerEngine remove deletes all of it again.'
  local prompt = ('Fetch about %s?'):format(models.to_size(bytes))
  picker.confirm(prompt, { title = 'To be fetched', lines = lines }, 'Yes, fetch it', function()
    M.fetch(fetches, done)
  end)
end

--- What the chat needs besides.
---@param started runner.EngineStatus
---@param tell fun(sentence: string)
local function look_for_model(started, tell)
  connection.request('runner/servers', vim.empty_dict(), function(_, answer)
    local usual = answer and answer.servers[1]
    if usual and usual.url ~= started.url then
      return tell(('It is not used as long as %s answers, or a setting or OLLAMA_HOST names it.'):format(usual.url))
    end
    connection.request('runner/models/chatModel', { server = 'default' }, function(_, found)
      local has_none = found and not found.model
      tell(has_none and 'It has no model yet. ' .. status.how_to_get() or ':RunnerChat asks it.')
    end)
  end)
end

--- Starts something, and says what answers then.
---@param params { product?: string, model?: string, keep?: boolean }
function M.start(params)
  work.start('runner/engine/start', params, function(err, started)
    if err and work.is_cancelled(err) then
      return notice.answer('Nothing was started. :RunnerEngine offers it again.')
    elseif err then
      return M.complain(err.message)
    end
    local is_kept = params.keep or (options.current.engine or {}).keepRunning
    local ends = is_kept and ':RunnerEngine stop ends it.' or 'It ends with the last program that uses it.'
    look_for_model(started, function(sentence)
      notice.answer(('%s %s %s'):format(M.fit(started.message), ends, sentence))
    end)
  end)
end

return M
