--- The line above a chat: its model, its state and its keys.
local M = {}

---@param state runner.ChatState
---@return string[] hints The first that has room is shown.
local function hints_of(state)
  local question = state.question
  if question and question.is_asked then
    return { 'waits for your answer' }
  elseif question then
    local asks = ('May %s run?'):format(question.tool)
    return { asks .. ' <Esc>, then answer here', asks .. ' <Esc>', 'it asks: <Esc>' }
  elseif state.phase == 'loading' then
    return { ('Loading %s … <C-c> cancels'):format(state.model), 'Loading …' }
  elseif state.running then
    local runs = 'runs ' .. state.running
    return { runs .. ', <C-c> cancels', runs, 'runs, <C-c> cancels' }
  elseif state.phase ~= 'idle' then
    return { 'answers, <C-c> cancels' }
  end
  local hints = { '<C-s> sends, gm chooses the model', '<C-s> sends' }
  local all = {}
  for _, figures in ipairs(state.figures) do
    for _, hint in ipairs(hints) do
      all[#all + 1] = ('%s · %s'):format(figures, hint)
    end
  end
  return vim.list_extend(all, hints)
end

---@param text string
---@return string
local function escaped(text)
  return (text:gsub('%%', '%%%%'))
end

---@param window integer
---@param state runner.ChatState
local function show_in(window, state)
  local model = state.model or 'no model'
  if state.mode then
    model = ('%s · %s'):format(model, state.mode)
  end
  local hints = hints_of(state)
  local room = vim.api.nvim_win_get_width(window) - vim.fn.strdisplaywidth(model) - 3
  local hint = vim.iter(hints):find(function(one)
    return vim.fn.strdisplaywidth(one) <= room
  end) or hints[#hints]
  local line = '%%#RunnerHeading# %s %%#RunnerHint#%%=%%<%s '
  vim.wo[window][0].winbar = line:format(escaped(model), escaped(hint))
end

---@param bufnr integer
---@param state runner.ChatState
function M.show(bufnr, state)
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    show_in(window, state)
  end
end

return M
