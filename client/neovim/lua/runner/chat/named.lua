--- `@path`, `@folder/`, `@src/**/*.ts`, `@https://…` and `@server:uri` in a prompt: what they name goes along with it.
--- `#file:path` is another spelling of `@path`. The daemon finds it; files that are open are sent as they are in the
--- editor.
local changes = require('runner.changes')
local connection = require('runner.connection')
local controls = require('runner.controls')
local notice = require('runner.notice')
local picker = require('runner.picker')

local M = {}

--- What goes along with a prompt.
---@class runner.Along
---@field contexts runner.Context[]
---@field images string[] Base64.

--- The most characters of a name from the prompt in a question or a line.
local most = 100
--- The most names of the files of a folder that are shown.
local most_names = 3

local private = { secret = 'looks like a file with secrets', excluded = 'is excluded' }

---@param bytes integer
---@return string
local function size_of(bytes)
  if bytes < 1000 then
    return ('%d bytes'):format(bytes)
  end
  return bytes < 1e6 and ('%.1f kB'):format(bytes / 1e3) or ('%.1f MB'):format(bytes / 1e6)
end

--- An estimate, with two digits.
---@param tokens integer
---@return string
local function tokens_of(tokens)
  local step = 10 ^ math.max(#tostring(tokens) - 2, 0)
  return ('about %d tokens'):format(math.floor(tokens / step + 0.5) * step)
end

--- What is sent for a word, such as `src/a.ts (3.1 kB, about 800 tokens)`.
---@param word string
---@param files runner.FoundFile[]
---@return string
local function title_of(word, files)
  local bytes, tokens = 0, 0
  for _, file in ipairs(files) do
    bytes, tokens = bytes + file.bytes, tokens + file.tokens
  end
  local names = vim.tbl_map(function(file)
    return controls.line(file.path, most)
  end, vim.list_slice(files, 1, most_names))
  local size = ('%s, %s'):format(size_of(bytes), tokens_of(tokens))
  if #files == 1 then
    return ('%s (%s)'):format(names[1], size)
  end
  local rest = #files > most_names and ', …' or ''
  return ('%d files of %s (%s: %s%s)'):format(#files, controls.line(word, most), size, table.concat(names, ', '), rest)
end

---@param path string
---@return string
local function real_path(path)
  return vim.uv.fs_realpath(path) or path
end

--- The path of a file of this machine. The address of a resource is the word of its server, whatever it says.
---@param file runner.FoundFile
---@return string?
local function path_of(file)
  local uri = file.attachment and file.attachment.uris and file.attachment.uris[1] or ''
  local path = vim.startswith(uri, 'file:') and real_path(vim.uri_to_fname(uri)) or nil
  return path == real_path(vim.fs.abspath(file.path)) and path or nil
end

--- The text of a file that is open and not saved.
---@param file runner.FoundFile
local function take_from_editor(file)
  local path = path_of(file)
  local bufnr = path and changes.unsaved_buffer(path)
  if bufnr then
    local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n')
    file.tokens = math.ceil(file.tokens * #text / math.max(file.bytes, 1))
    file.attachment.text, file.bytes = text, #text
  end
end

---@param along runner.Along
---@param word string
---@param files runner.FoundFile[]
local function add(along, word, files)
  for index, file in ipairs(files) do
    take_from_editor(file)
    -- The first one has the title of all: a folder is one line.
    local title = index == 1 and title_of(word, files) or nil
    along.contexts[#along.contexts + 1] = { attachment = file.attachment, title = title }
    along.images[#along.images + 1] = file.image
  end
end

--- Asks about each file that is private. A question that is left sends nothing at all.
---@param files runner.FoundFile[]
---@param take fun(agreed: runner.FoundFile[])
local function ask_about(files, take)
  local agreed = {}
  local function go_on(index)
    local file = files[index]
    if not file then
      return take(agreed)
    elseif not file.privacy then
      agreed[#agreed + 1] = file
      return go_on(index + 1)
    end
    local question = ('%s %s. Send it? '):format(controls.line(file.path, most), private[file.privacy])
    picker.pick({ 'No', 'Yes' }, { prompt = question }, function(choice)
      agreed[#agreed + 1] = choice == 'Yes' and file or nil
      go_on(index + 1)
    end)
  end
  go_on(1)
end

---@param message string
local function refuse(message)
  notice.complain(('Nothing was sent. %s'):format(message))
end

---@param url string
---@param take fun(files: runner.FoundFile[])
local function fetch(url, take)
  local host = url:match('^%a+://([^/?#]+)') or url
  local question = ('Fetch %s from %s? '):format(controls.line(url, most), controls.line(host, most))
  picker.pick({ 'No', 'Yes' }, { prompt = question }, function(choice)
    if choice ~= 'Yes' then
      return take({})
    end
    connection.ask('runner/files/fetch', { url = url }, function(result)
      take({ result.file })
    end, refuse)
  end)
end

---@param mentions runner.FoundMention[]
---@param take fun(along: runner.Along)
local function collect(mentions, take)
  local along = { contexts = {}, images = {} }
  local function go_on(index)
    local mention = mentions[index]
    if not mention then
      return take(along)
    end
    for _, note in ipairs(mention.notes) do
      notice.warn(note)
    end
    local function agreed(files)
      add(along, mention.word, files)
      go_on(index + 1)
    end
    if mention.url then
      fetch(mention.url, agreed)
    else
      ask_about(mention.files, agreed)
    end
  end
  go_on(1)
end

---@param typed string
---@param take fun(along: runner.Along) Not called if nothing is to be sent; the user knows why.
function M.find(typed, take)
  local text = (' ' .. typed):gsub('([%s(])#file:', '%1 @')
  if not text:find('%s@[^%s@]') then
    return take({ contexts = {}, images = {} })
  end
  connection.ask('runner/files/find', { text = text, cwd = vim.uv.cwd() }, function(result)
    collect(result.mentions, take)
  end, refuse)
end

return M
