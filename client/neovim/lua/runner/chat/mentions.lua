--- `#buffer` in a prompt: it goes along with it. `@path` and `#file:path` are in `named.lua`. All of them are completed
--- here.
local attachments = require('runner.chat.attachments')
local connection = require('runner.connection')
local prompts = require('runner.chat.prompts')

local M = {}

--- The most paths that are offered.
local most_paths = 200
--- In ms that the completion waits for the resources of a tool server.
local patience = 1000

---@param bufnr integer
---@return boolean
local function is_ordinary(bufnr)
  return vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == '' and vim.bo[bufnr].buflisted
end

--- The file beside the chat, else the one that was used last.
---@return integer?
local function other_buffer()
  local beside = vim.fn.winbufnr(vim.fn.winnr('#'))
  if beside > 0 and is_ordinary(beside) then
    return beside
  end
  local list = vim.tbl_filter(function(info)
    return is_ordinary(info.bufnr)
  end, vim.fn.getbufinfo({ buflisted = 1 }))
  table.sort(list, function(a, b)
    return a.lastused > b.lastused
  end)
  return list[1] and list[1].bufnr
end

---@return runner.Context?
---@return string? problem
local function of_other_buffer()
  local bufnr = other_buffer()
  if not bufnr then
    return nil, 'There is no file for #buffer. Open one beside the chat.'
  end
  return attachments.of_buffer(bufnr)
end

--- What `#buffer` in a prompt means, if it is there.
---@param prompt string
---@return runner.Context[]?
---@return string? problem
function M.resolve(prompt)
  for word in (' ' .. prompt):gmatch('[%s(](#buffer%S*)') do
    if word:match('^#buffer[.,;:!?)]*$') then
      local context, problem = of_other_buffer()
      return context and { context }, problem
    end
  end
  return {}
end

---@param mark '#file:'|'@'
---@param name string
---@return string
local function to_word(mark, name)
  return mark .. (name:find('%s') and ('"%s"'):format(name) or name)
end

---@param lead string Of a path.
---@param mark '#file:'|'@'
---@return string[]
local function complete_paths(lead, mark)
  local paths = vim.fn.getcompletion(lead, 'file')
  return vim.tbl_map(function(path)
    return to_word(mark, path)
  end, vim.list_slice(paths, 1, most_paths))
end

--- Resources of tool servers, such as `@team:memo://1`. The daemon starts a server once its name is whole.
---@param lead string
---@return table[]
local function complete_resources(lead)
  if lead:find('^[^:]*/') then
    return {}
  end
  local found = connection.request_now('runner/files/complete', { word = lead }, patience)
  return vim.tbl_map(function(resource)
    return { word = to_word('@', resource.word), menu = resource.description }
  end, found and found.words or {})
end

---@param base string
---@return (string|table)[]
local function complete(base)
  local line = vim.api.nvim_get_current_line():sub(1, vim.fn.col('.') - 1)
  -- The editor takes the word out of the line before it asks; completion plugins leave it there.
  if base ~= '' and vim.endswith(line, base) then
    line = line:sub(1, -#base - 1)
  end
  if line == '' and vim.startswith(base, '/') then
    return prompts.complete_names(base)
  elseif line:match('^/%S+%s') and not base:match('^[#@]') then
    return prompts.complete_arguments(line, base)
  end
  local mark = base:match('^#file:') or base:match('^@')
  if mark then
    local lead = base:sub(#mark + 1):gsub('^"', '')
    local paths = complete_paths(lead, mark)
    return mark == '@' and vim.list_extend(paths, complete_resources(lead)) or paths
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, base)
  end, { '#buffer', '#file:' })
end

---@return integer? column From 0, of the word before the cursor where it is one of these.
function M.column()
  local before = vim.api.nvim_get_current_line():sub(1, vim.fn.col('.') - 1)
  if before:match('^/%S*$') then
    return 0
  end
  local quoted = before:match('()#file:"[^"]*$') or before:match('()@"[^"]*$')
  local start = quoted or before:match('()[#@]%S*$') or before:match('^/%S+%s.-()%S*$')
  local is_word = start and (start == 1 or before:sub(start - 1, start - 1):match('[%s(]'))
  return is_word and start - 1 or nil
end

--- For 'omnifunc'.
---@param find_start 0|1
---@param base string
---@return integer|(string|table)[]
function M.omnifunc(find_start, base)
  if find_start == 1 then
    return M.column() or -3
  end
  return complete(base)
end

--- Completes a mention before the cursor; otherwise the key types itself.
function M.press_tab()
  local is_open = vim.fn.pumvisible() == 1
  local keys = is_open and '<C-n>' or M.column() and '<C-x><C-o>' or '<Tab>'
  vim.api.nvim_feedkeys(vim.keycode(keys), 'in', false)
end

return M
