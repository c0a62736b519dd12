--- `#buffer` and `#file:path` in a prompt: what they name goes along with it. `@path` is in `named.lua`. All of them are
--- completed here.
local attachments = require('runner.chat.attachments')
local prompts = require('runner.chat.prompts')

local M = {}

--- The most mentions in one prompt; more are a mistake.
local most = 20
--- The most paths that are offered.
local most_paths = 200

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

--- Paths with spaces are quoted.
---@param word string
---@return string?
local function path_in(word)
  local path = word:match('^#file:"([^"]+)"') or word:match('^#file:([^"].*)$')
  -- Punctuation of the sentence may follow.
  if path and not vim.uv.fs_stat(path) then
    path = path:gsub('[.,;:!?)]+$', '')
  end
  return path
end

---@param word string
---@return runner.Context?
---@return string? problem
local function resolve(word)
  if word:match('^#buffer[.,;:!?)]*$') then
    return of_other_buffer()
  end
  local path = path_in(word)
  if path then
    return attachments.of_file(path)
  end
end

--- All mentions, each once, in order.
---@param prompt string
---@return runner.Context[]?
---@return string? problem
function M.resolve(prompt)
  local found, seen = {}, {}
  for _, pattern in ipairs({ '()(#file:"[^"\n]+")', '()(#file:[^%s"]%S*)', '()(#buffer%S*)' }) do
    for at, word in prompt:gmatch(pattern) do
      local is_word = at == 1 or prompt:sub(at - 1, at - 1):match('[%s(]') ~= nil
      if is_word and not seen[word] and #found < most then
        seen[word] = true
        local context, problem = resolve(word)
        if problem then
          return nil, problem
        elseif context then
          found[#found + 1] = context
        end
      end
    end
  end
  return found
end

---@param lead string Of a path.
---@param mark '#file:'|'@'
---@return string[]
local function complete_paths(lead, mark)
  local paths = vim.fn.getcompletion(lead, 'file')
  return vim.tbl_map(function(path)
    return mark .. (path:find('%s') and ('"%s"'):format(path) or path)
  end, vim.list_slice(paths, 1, most_paths))
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
    return complete_paths((base:sub(#mark + 1):gsub('^"', '')), mark)
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
