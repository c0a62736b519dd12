--- Which tool servers a chat uses: all of them, but for those that were switched off for it.
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

--- No server is off that is not known: they are switched in their list.
---@param servers runner.ToolServer[]
function ServerChoice:know(servers)
  self.known = vim.tbl_map(function(server)
    return server.name
  end, servers)
end

--- For the daemon.
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
