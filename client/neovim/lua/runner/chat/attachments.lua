--- Attachments of a prompt: lines of a buffer, or all of it.
local M = {}

---@class runner.Context
---@field attachment? runner.Attachment What the model reads. A picture has none.
---@field title? string What the user sees. Of the files of a folder only the first has one.

--- In bytes. A model's context window is smaller.
local most_bytes = 1024 * 1024

--- What the daemon should know of a buffer; of a new one, it has no path.
---@param bufnr integer
---@return { path?: string, language?: string, uris?: string[] }
function M.place_of(bufnr)
  local name, filetype = vim.api.nvim_buf_get_name(bufnr), vim.bo[bufnr].filetype
  return {
    path = name ~= '' and vim.fn.fnamemodify(name, ':.') or nil,
    language = filetype ~= '' and filetype or nil,
    uris = name ~= '' and { vim.uri_from_bufnr(bufnr) } or nil,
  }
end

---@param bufnr integer
---@param first integer From 0.
---@param last integer
---@return runner.Attachment
local function attachment_of(bufnr, first, last)
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, first, last, false), '\n')
  return vim.tbl_extend('keep', M.place_of(bufnr), { path = 'a new file', text = text })
end

---@param bufnr integer
---@param first integer From 1.
---@param last integer
---@return runner.Context
function M.of_lines(bufnr, first, last)
  local attachment = attachment_of(bufnr, first - 1, last)
  attachment.lines = ('%d-%d'):format(first, last)
  return { attachment = attachment, title = ('lines %d to %d of %s'):format(first, last, attachment.path) }
end

--- The whole buffer, saved or not.
---@param bufnr integer
---@return runner.Context?
---@return string? problem
function M.of_buffer(bufnr)
  local path = M.place_of(bufnr).path or 'a new file'
  if vim.api.nvim_buf_get_offset(bufnr, vim.api.nvim_buf_line_count(bufnr)) > most_bytes then
    return nil, ('%s has more than 1 MB. Select the lines that matter, and :RunnerChat them.'):format(path)
  end
  return { attachment = attachment_of(bufnr, 0, -1), title = path }
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
