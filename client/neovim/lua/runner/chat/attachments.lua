--- Attachments of a prompt: lines of a buffer, or all of it.
local M = {}

---@class runner.Context
---@field attachment? runner.Attachment What the model reads. A picture has none.
---@field title? string What the user sees. Of the files of a folder only the first has one.

--- In bytes. A model's context window is smaller.
local most_bytes = 1024 * 1024

---@param bufnr integer
---@return string
local function path_of(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  return path == '' and 'a new file' or vim.fn.fnamemodify(path, ':.')
end

---@param bufnr integer
---@return string[]?
local function uris_of(bufnr)
  return vim.api.nvim_buf_get_name(bufnr) ~= '' and { vim.uri_from_bufnr(bufnr) } or nil
end

---@param filetype string?
---@return string?
local function to_language(filetype)
  return filetype ~= '' and filetype or nil
end

---@param bufnr integer
---@param first integer From 1.
---@param last integer
---@return runner.Context
function M.of_lines(bufnr, first, last)
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, first - 1, last, false), '\n')
  local path = path_of(bufnr)
  local language = to_language(vim.bo[bufnr].filetype)
  local lines = ('%d-%d'):format(first, last)
  return {
    attachment = { path = path, lines = lines, language = language, text = text, uris = uris_of(bufnr) },
    title = ('lines %d to %d of %s'):format(first, last, path),
  }
end

--- The whole buffer, saved or not.
---@param bufnr integer
---@return runner.Context?
---@return string? problem
function M.of_buffer(bufnr)
  local path = path_of(bufnr)
  if vim.api.nvim_buf_get_offset(bufnr, vim.api.nvim_buf_line_count(bufnr)) > most_bytes then
    return nil, ('%s has more than 1 MB. Select the lines that matter, and :RunnerChat them.'):format(path)
  end
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n')
  local language = to_language(vim.bo[bufnr].filetype)
  return { attachment = { path = path, language = language, text = text, uris = uris_of(bufnr) }, title = path }
end

---@param list runner.Context[]
---@return runner.Attachment[]
function M.of_contexts(list)
  local all = {}
  for _, one in ipairs(list) do
    all[#all + 1] = one.attachment
  end
  return all
end

---@param list runner.Context[]
---@return string?
function M.title_of(list)
  local titles = {}
  for _, one in ipairs(list) do
    titles[#titles + 1] = one.title
  end
  return titles[1] and 'with ' .. table.concat(titles, ', ') or nil
end

return M
