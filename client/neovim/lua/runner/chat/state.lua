--- The state of a chat, shown in the line above it.
local winbar = require('runner.chat.winbar')

---@alias runner.ChatPhase 'idle'|'waiting'|'loading'|'answers'

---@class runner.ChatState
---@field private bufnr integer
---@field model string?
---@field mode runner.AgentMode? Of the built-in tools; absent while it is not known that they are on.
---@field phase runner.ChatPhase
---@field question { tool: string, is_asked: boolean }? May this tool run?
---@field running string? The call that runs, and how far it has come.
---@field figures string[] Of the last answer, the longest first.
local State = {}
State.__index = State

---@param bufnr integer
---@return runner.ChatState
function State.create(bufnr)
  return setmetatable({ bufnr = bufnr, phase = 'idle', figures = {} }, State)
end

function State:show()
  if vim.api.nvim_buf_is_loaded(self.bufnr) then
    winbar.show(self.bufnr, self)
  end
end

---@param part 'model'|'mode'|'phase'|'running'
---@param value string?
function State:set(part, value)
  if self[part] ~= value then
    self[part] = value
    self:show()
  end
end

--- Sets the tool that waits for approval.
---@param tool string?
---@param is_asked boolean The question is open; else the user cannot be asked yet.
---@return boolean whether it is another than before
function State:set_question(tool, is_asked)
  local question = tool and { tool = tool, is_asked = is_asked } or nil
  local is_other = not vim.deep_equal(self.question, question)
  self.question = question
  if is_other then
    self:show()
  end
  return is_other
end

--- A turn begins. It is shown once it has been sent.
function State:begin()
  self.phase, self.figures = 'waiting', {}
end

--- The turn has ended.
---@param figures? string[]
function State:finish(figures)
  self.phase, self.question, self.running, self.figures = 'idle', nil, nil, figures or {}
  self:show()
end

return State
