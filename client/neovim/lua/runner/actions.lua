--- Menus of actions on a chosen item.
local M = {}

---@class runner.Action
---@field title string
---@field run fun()

--- Lets the user choose an action, and runs it.
---@param prompt string
---@param actions runner.Action[]
function M.pick(prompt, actions)
  vim.ui.select(actions, {
    prompt = prompt,
    format_item = function(action)
      return action.title
    end,
  }, function(action)
    if action then
      action.run()
    end
  end)
end

--- Asks before something is deleted. Leaving the question keeps it.
---@param prompt string
---@param delete fun()
function M.confirm_deletion(prompt, delete)
  vim.ui.select({ 'Keep', 'Delete' }, { prompt = prompt }, function(choice)
    if choice == 'Delete' then
      delete()
    end
  end)
end

return M
