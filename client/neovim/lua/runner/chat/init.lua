--- `:RunnerChat`: one conversation, in one buffer.
local Conversation = require('runner.chat.conversation')
local Page = require('runner.chat.page')
local folds = require('runner.chat.folds')
local models = require('runner.models')
local notice = require('runner.notice')
local sessions = require('runner.sessions')

local M = {}

local interrupts = vim.api.nvim_create_namespace('runner.chat.interrupts')

---@class runner.ChatOptions
---@field prompt? string Sent at once; empty is none.
---@field selection? runner.Selection
---@field model? string
---@field is_quiet? boolean Nothing is offered.

---@type runner.Page?
local page
local conversation = Conversation.create()
---@type string?
local model
---@type runner.Selection?
local selection
--- The conversation that was offered.
---@type string?
local last

---@type fun(bufnr: integer): integer
local show

--- The keys that there are now, as many as have room.
---@param room integer
---@return string
local function hint_for(room)
  if conversation:is_answering() then
    return 'answers, <C-c> cancels'
  end
  local hint = '<C-s> sends, gm chooses the model'
  return #hint <= room and hint or '<C-s> sends'
end

local function show_winbar()
  local shown = model or 'no model'
  for _, window in ipairs(page and vim.fn.win_findbuf(page.bufnr) or {}) do
    local hint = hint_for(vim.api.nvim_win_get_width(window) - #shown - 3)
    local escaped = shown:gsub('%%', '%%%%')
    vim.wo[window][0].winbar = ('%%#RunnerHeading# %s %%#RunnerHint#%%=%%<%s '):format(escaped, hint)
  end
end

---@param chosen string
local function use(chosen)
  model = chosen
  if page and page:is_there() then
    show_winbar()
  end
end

---@param list runner.Model[]
---@return string? name The one that is loaded, else the newest. What runs elsewhere answers only who chose it.
local function first_choice(list)
  local able = vim.tbl_filter(function(one)
    return models.can_chat(one) and not one.remote
  end, list)
  local loaded = vim.iter(able):find(function(one)
    return one.running ~= nil
  end)
  local first = loaded or able[1]
  return first and first.name
end

---@param message string
local function say_error(message)
  if page then
    page:add_remark(('**Error:** %s'):format(message))
  end
end

---@param continue fun(name: string)
local function with_model(continue)
  if model then
    return continue(model)
  end
  models.list(function(list)
    -- Something else may have been chosen meanwhile.
    local chosen = model or first_choice(list)
    if not chosen then
      return say_error(
        vim.iter(list):any(models.can_chat)
            and 'Nothing was sent: every model that can chat runs elsewhere. Choose one of them with gm, or get one of your own with :RunnerPull NAME.'
          or 'No model that can chat is installed. Get one with :RunnerPull NAME.'
      )
    end
    use(chosen)
    continue(chosen)
  end, say_error)
end

--- What makes the result more than its text.
local remarks = {
  cancelled = '*Cancelled.*',
  length = '*Cut: the answer has reached its greatest length.*',
}

---@param shown runner.Page
---@param turn runner.Turn
---@return runner.Listener
local function listener_for(shown, turn)
  local came = ''
  ---@param write fun(text: string)
  local function to(write)
    return function(text)
      if shown:is_there() then
        write(text)
      end
    end
  end
  local function finish()
    shown:end_answer()
    show_winbar()
  end
  return {
    thinking = to(function(text)
      shown:add_thinking(text)
    end),
    text = to(function(text)
      shown:add_text(text)
      -- After it: what an interrupt kept from being written is missing here too, and is made good at the end.
      came = came .. text
    end),
    notice = to(function(message)
      shown:add_line(('*%s*'):format(message))
    end),
    failed = function(err)
      if not shown:is_there() then
        return
      end
      shown:add_line(('**Error:** %s'):format(err.message))
      finish()
      -- It can be sent again with one key, unless something else is being typed.
      if shown:draft() == '' then
        selection = selection or turn.selection
        shown:set_draft(turn.prompt)
        shown:show_context(selection and selection.title)
      end
    end,
    done = function(result)
      if not shown:is_there() then
        return
      end
      if result.message.content ~= came then
        shown:replace_answer(result.message.content)
      end
      local remark = remarks[result.finishReason]
      if remark then
        shown:add_line(remark)
      end
      finish()
    end,
  }
end

---@param prompt string
---@param sent? fun()
local function send(prompt, sent)
  if conversation:is_answering() then
    return notice.warn('An answer is under way; <C-c> or :RunnerCancel ends it.')
  end
  with_model(function(name)
    if not page or conversation:is_answering() then
      return
    end
    local turn = { prompt = prompt, selection = selection, model = name }
    selection = nil
    page:show_context(nil)
    page:begin_answer(prompt, name, turn.selection and turn.selection.title)
    if sent then
      sent()
    end
    conversation:send(turn, listener_for(page, turn))
    show_winbar()
  end)
end

--- Sends the prompt that stands at the end of the buffer.
function M.submit()
  local draft = page and page:draft() or ''
  if draft ~= '' then
    send(draft, function()
      page:set_draft('')
    end)
  end
end

function M.pick_model()
  models.list(function(list)
    local able = vim.tbl_filter(models.can_chat, list)
    vim.ui.select(able, { prompt = 'Chat with', format_item = models.describer(able) }, function(chosen)
      if chosen then
        use(chosen.name)
      end
    end)
  end)
end

---@return boolean whether an answer was under way
function M.cancel()
  return conversation:cancel()
end

--- Shows a conversation that is kept, and goes on with it.
---@param id string
function M.resume(id)
  sessions.read(id, true, function(result)
    M.open({ is_quiet = true })
    conversation:resume(id, result.messages)
    page:clear()
    for _, shown in ipairs(sessions.turns_of(result.messages)) do
      page:begin_answer(shown.prompt, shown.model or result.session.model or 'Answer')
      for _, message in ipairs(shown.answers) do
        if message.thinking then
          page:add_thinking(message.thinking)
        end
        page:add_text(message.content)
        if message.partial then
          page:add_line(message.partial == 'cancelled' and '*Cancelled.*' or '*Failed.*')
        end
      end
      page:end_answer()
    end
    page:go_to_prompt(show(page.bufnr))
    local wanted = result.session.model
    models.list(function(list)
      if vim.iter(list):any(function(one)
        return one.name == wanted
      end) then
        use(wanted)
      end
    end)
  end)
end

--- Where there is a last conversation of this folder, says how to go on with it.
local function offer_last()
  sessions.last_here(function(session)
    if page and conversation:is_new() and page:draft() == '' then
      last = session.id
      page:add_remark(('*Last here: %s. `gl` goes on with it.*'):format(sessions.describe(session)))
    end
  end)
end

---@param bufnr integer
local function map_keys(bufnr)
  local function map(modes, key, run, desc)
    vim.keymap.set(modes, key, run, { buffer = bufnr, desc = desc })
  end
  map('n', '<CR>', M.submit, 'Sends the prompt')
  map({ 'n', 'i' }, '<C-s>', M.submit, 'Sends the prompt')
  map({ 'n', 'i' }, '<C-c>', function()
    if not M.cancel() then
      vim.cmd.stopinsert()
    end
  end, 'Cancels the answer')
  map('n', 'gm', M.pick_model, 'Chooses the model')
  map('n', 'gl', function()
    if last then
      M.resume(last)
    end
  end, 'Goes on with the last conversation of this folder')
end

--- In the midst of other events the editor takes <C-c> for an interrupt, which no mapping sees.
---@param bufnr integer
local function watch_interrupts(bufnr)
  vim.on_key(function(_, typed)
    if typed == '\3' and vim.api.nvim_get_current_buf() == bufnr then
      vim.schedule(M.cancel)
    end
  end, interrupts)
end

---@return runner.Page
local function create_page()
  local created = Page.create()
  map_keys(created.bufnr)
  watch_interrupts(created.bufnr)
  vim.api.nvim_create_autocmd('BufWinEnter', {
    buffer = created.bufnr,
    callback = function()
      folds.show_in(vim.api.nvim_get_current_win())
      show_winbar()
    end,
  })
  vim.api.nvim_create_autocmd('BufUnload', {
    buffer = created.bufnr,
    callback = function()
      conversation:forget()
      page, selection = nil, nil
      vim.on_key(nil, interrupts)
      -- Without its text and marks it would only look like one that can be gone on with.
      vim.schedule(function()
        if vim.api.nvim_buf_is_valid(created.bufnr) then
          vim.api.nvim_buf_delete(created.bufnr, { force = true })
        end
      end)
    end,
  })
  return created
end

---@param bufnr integer
---@return integer
function show(bufnr)
  local window = vim.fn.win_findbuf(bufnr)[1]
  if window then
    vim.api.nvim_set_current_win(window)
    return window
  end
  window = vim.api.nvim_open_win(bufnr, true, { split = 'right', win = 0 })
  local options = vim.wo[window][0]
  options.wrap, options.linebreak = true, true
  -- It is no code: its lines have no numbers and no signs.
  options.number, options.relativenumber, options.signcolumn = false, false, 'no'
  return window
end

---@param options runner.ChatOptions
function M.open(options)
  local is_new = not page
  page = page or create_page()
  page:go_to_prompt(show(page.bufnr))
  if options.model then
    use(options.model)
  end
  if options.selection then
    selection = options.selection
    page:show_context(selection.title)
  end
  local prompt = options.prompt or ''
  if prompt == '' then
    with_model(show_winbar)
    if is_new and not options.is_quiet then
      offer_last()
    end
  elseif page:draft() == '' then
    -- It stands there until it is sent, so that nothing on the way to that loses it.
    page:set_draft(prompt)
    M.submit()
  else
    send(prompt)
  end
end

return M
