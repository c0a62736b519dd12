--- The tool servers that a chat uses: all except those that were switched off for it.
---@class runner.ServerChoice
---@field private off table<string, true>
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
  return not self.off[name]
end

---@param name string
---@param is_on boolean
function ServerChoice:switch(name, is_on)
  self.off[name] = not is_on or nil
end

--- Call with the listed servers. Only a listed server can have been switched off.
---@param servers runner.ToolServer[]
function ServerChoice:know(servers)
  self.known = vim.tbl_map(function(server)
    return server.name
  end, servers)
end

--- The value of `hostedTools`.
---@return 'all'|string[]
function ServerChoice:wanted()
  if not next(self.off) then
    return 'all'
  end
  return vim.tbl_filter(function(name)
    return self:has(name)
  end, self.known)
end

return ServerChoice
