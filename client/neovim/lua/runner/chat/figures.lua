--- The speed of an answer, and how full the context window is.
---@class runner.Figures
---@field private seconds number While text came; what a tool takes is not counted.
---@field private since integer? Nanoseconds.
local Figures = {}
Figures.__index = Figures

--- A speed over less time means nothing.
local least_seconds = 0.05

---@return runner.Figures
function Figures.create()
  return setmetatable({ seconds = 0 }, Figures)
end

--- Call when a piece arrives.
function Figures:begin()
  self.since = self.since or vim.uv.hrtime()
end

--- Call when a tool runs or the answer ends.
function Figures:pause()
  if self.since then
    self.seconds = self.seconds + (vim.uv.hrtime() - self.since) / 1e9
    self.since = nil
  end
end

---@param count integer
---@return string
local function with_commas(count)
  local digits = ('%d'):format(count):reverse():gsub('(%d%d%d)', '%1,'):reverse()
  return (digits:gsub('^,', ''))
end

---@param usage { promptTokens: integer, completionTokens: integer, contextLength?: integer }
---@return string?
local function window_of(usage)
  local used = usage.promptTokens + usage.completionTokens
  if used > 0 and usage.contextLength then
    local percentage = math.min(100, math.ceil(100 * used / usage.contextLength))
    return ('%d %% of %s tokens'):format(percentage, with_commas(usage.contextLength))
  end
end

---@param usage { promptTokens: integer, completionTokens: integer, contextLength?: integer }
---@return string[] texts The longest first: where there is little room, a shorter one is shown.
function Figures:texts(usage)
  self:pause()
  local speed = usage.completionTokens > 1
      and self.seconds >= least_seconds
      and ('%.0f tokens/s'):format(usage.completionTokens / self.seconds)
    or nil
  local window = window_of(usage)
  local both = speed and window and ('%s, %s'):format(speed, window) or nil
  return both and { both, window } or { window or speed }
end

return Figures
