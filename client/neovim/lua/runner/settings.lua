--- Those of docs/PROTOCOL.md: made from daemon/config/settings.ts, to which a test holds it.
---@class runner.Settings
---@field host? string
---@field servers? { name: string, url: string, caFile?: string }[]
---@field caFile? string
---@field timeouts? { connect?: integer, list?: integer, firstByte?: integer, idle?: integer, tool?: integer, toolTotal?: integer }
---@field keepAlive? number|string
---@field contextLength? integer
---@field logLevel? 'debug'|'info'|'warn'|'error'
---@field chatModel? string
---@field completionModel? string
---@field exclude? string[]
---@field streamLogs? boolean
---@field cacheDir? string
---@field modelfilesPath? string
---@field catalogUrl? string
---@field keepSessions? boolean
---@field sessionDays? integer
---@field mcpServers? table<string, table<string, any>>
---@field approvals? table<string, array|string>
---@field trusted? boolean

--- Their names.
return {
  'host',
  'servers',
  'caFile',
  'timeouts',
  'keepAlive',
  'contextLength',
  'logLevel',
  'chatModel',
  'completionModel',
  'exclude',
  'streamLogs',
  'cacheDir',
  'modelfilesPath',
  'catalogUrl',
  'keepSessions',
  'sessionDays',
  'mcpServers',
  'approvals',
  'trusted',
}
