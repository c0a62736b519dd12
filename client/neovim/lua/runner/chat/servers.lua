--- The tool servers that a chat uses: all except those that were switched off for it.
---@class runner.ServerChoice
---@field private off table<string, true>
---@field private kept? string[] Those that are on, until the servers are listed.
---@field private known string[] Those that there were when they were listed last.
local ServerChoice = {}
ServerChoice.__index = ServerChoice

---@return runner.ServerChoice
function ServerChoice.create()
  return setmetatable({ off = {}, known = {} }, ServerChoice)
end

---@param name string
---@return boolean
function ServerChoice:has(name)
  if self.kept then
    return vim.list_contains(self.kept, name)
  end
  return not self.off[name]
end

---@param name string
---@param is_on boolean
function ServerChoice:switch(name, is_on)
  self.off[name] = not is_on or nil
end

--- Uses those that a conversation was kept with.
---@param settings? runner.ConversationSettings
function ServerChoice:restore(settings)
  if settings and settings.hostedTools ~= 'all' then
    self.kept = settings.hostedTools or {}
  end
end

--- Call with the listed servers. Only a listed server can have been switched off.
---@param servers runner.ListedToolServer[]
function ServerChoice:know(servers)
  self.known = vim.tbl_map(function(server)
    return server.name
  end, servers)
  for _, name in ipairs(self.known) do
    self.off[name] = not self:has(name) or nil
  end
  self.kept = nil
end

--- The value of `hostedTools`.
---@return 'all'|string[]
function ServerChoice:wanted()
  if self.kept then
    return self.kept
  elseif not next(self.off) then
    return 'all'
  end
  return vim.tbl_filter(function(name)
    return self:has(name)
  end, self.known)
end

return ServerChoice
