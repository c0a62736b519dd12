--- Those of docs/PROTOCOL.md: made from daemon/config/settings.ts, to which a test holds it.
---@class runner.Settings
---@field host? string
---@field api? 'auto'|'ollama'|'openai'
---@field servers? { name: string, url: string, caFile?: string, api?: 'auto'|'ollama'|'openai' }[]
---@field caFile? string
---@field timeouts? { connect?: integer, list?: integer, firstByte?: integer, idle?: integer, tool?: integer, toolTotal?: integer, toolStart?: integer }
---@field keepAlive? number|string
---@field contextLength? integer
---@field logLevel? 'debug'|'info'|'warn'|'error'
---@field chatModel? string
---@field completionModel? string
---@field modelCapabilities? table<string, { tools?: boolean, vision?: boolean, thinking?: boolean, insert?: boolean }>
---@field exclude? string[]
---@field streamLogs? boolean
---@field cacheDir? string
---@field modelfilesPath? string
---@field catalogUrl? string
---@field keepSessions? boolean
---@field sessionDays? integer
---@field engine? { keepRunning?: boolean }
---@field mcpServers? table<string, table<string, any>>
---@field approvals? table<string, array|string>
---@field builtinTools? boolean
---@field checks? table<string, table<string, { command: string[], timeout?: integer, env?: table<string, string> }>>
---@field rounds? integer
---@field agentContext? integer
---@field projectRules? boolean
---@field trusted? boolean

--- Their names, and what they must be.
---@type { name: string, schema: runner.Schema }[]
return {
  { name = 'host', schema = { type = 'string' } },
  { name = 'api', schema = { type = 'string', enum = { 'auto', 'ollama', 'openai' } } },
  { name = 'servers', schema = { type = 'array', items = { type = 'object', properties = { name = { type = 'string' }, url = { type = 'string' }, caFile = { type = 'string' }, api = { type = 'string', enum = { 'auto', 'ollama', 'openai' } } }, required = { 'name', 'url' } } } },
  { name = 'caFile', schema = { type = 'string' } },
  { name = 'timeouts', schema = { type = 'object', properties = { connect = { type = 'integer', minimum = 0, maximum = 2147483647 }, list = { type = 'integer', minimum = 0, maximum = 2147483647 }, firstByte = { type = 'integer', minimum = 0, maximum = 2147483647 }, idle = { type = 'integer', minimum = 0, maximum = 2147483647 }, tool = { type = 'integer', minimum = 0, maximum = 2147483647 }, toolTotal = { type = 'integer', minimum = 0, maximum = 2147483647 }, toolStart = { type = 'integer', minimum = 0, maximum = 2147483647 } } } },
  { name = 'keepAlive', schema = { type = { 'number', 'string' } } },
  { name = 'contextLength', schema = { type = 'integer', minimum = 0 } },
  { name = 'logLevel', schema = { type = 'string', enum = { 'debug', 'info', 'warn', 'error' } } },
  { name = 'chatModel', schema = { type = 'string' } },
  { name = 'completionModel', schema = { type = 'string' } },
  { name = 'modelCapabilities', schema = { type = 'object', values = { type = 'object', properties = { tools = { type = 'boolean' }, vision = { type = 'boolean' }, thinking = { type = 'boolean' }, insert = { type = 'boolean' } } } } },
  { name = 'exclude', schema = { type = 'array', items = { type = 'string' } } },
  { name = 'streamLogs', schema = { type = 'boolean' } },
  { name = 'cacheDir', schema = { type = 'string' } },
  { name = 'modelfilesPath', schema = { type = 'string' } },
  { name = 'catalogUrl', schema = { type = 'string' } },
  { name = 'keepSessions', schema = { type = 'boolean' } },
  { name = 'sessionDays', schema = { type = 'integer', minimum = 1, maximum = 36500 } },
  { name = 'engine', schema = { type = 'object', properties = { keepRunning = { type = 'boolean' } } } },
  { name = 'mcpServers', schema = { type = 'object', values = { type = 'object' } } },
  { name = 'approvals', schema = { type = 'object', values = { type = { 'array', 'string' } } } },
  { name = 'builtinTools', schema = { type = 'boolean' } },
  { name = 'checks', schema = { type = 'object', values = { type = 'object', values = { type = 'object', properties = { command = { type = 'array', items = { type = 'string' } }, timeout = { type = 'integer', minimum = 1, maximum = 86400 }, env = { type = 'object', values = { type = 'string' } } }, required = { 'command' } } } } },
  { name = 'rounds', schema = { type = 'integer', minimum = 1, maximum = 200 } },
  { name = 'agentContext', schema = { type = 'integer', minimum = 3072 } },
  { name = 'projectRules', schema = { type = 'boolean' } },
  { name = 'trusted', schema = { type = 'boolean' } },
}
