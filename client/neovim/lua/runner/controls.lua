--- Makes text from outside safe to show.
local M = {}

--- In UTF-8: C0 without line feed and tab, DEL, C1, and the characters that change the direction of text.
local unsafe = {
  '[%z\1-\8\11-\31\127]',
  '\194[\128-\159]',
  '\216\156',
  '\226\128[\142\143\170-\174]',
  '\226\129[\166-\169]',
}

---@param character string
---@return string
local function to_visible(character)
  local code = vim.fn.char2nr(character)
  if code < 0x20 then
    return vim.fn.nr2char(0x2400 + code)
  end
  return code == 0x7f and '␡' or ('<U+%04X>'):format(code)
end

--- Replaces control characters by visible ones.
---@param text string
---@return string
function M.visible(text)
  local shown = text:gsub('\r\n', '\n'):gsub('%z', '␀')
  for _, pattern in ipairs(unsafe) do
    shown = shown:gsub(pattern, to_visible)
  end
  return shown
end

--- Cuts a text to this many characters.
---@param text string
---@param most integer
---@return string
function M.cut(text, most)
  if vim.fn.strchars(text) <= most then
    return text
  end
  return vim.fn.strcharpart(text, 0, most) .. '…'
end

--- Cuts a line of text to this many columns of the screen: a wide character takes two. `strdisplaywidth` would add the
--- columns that stay empty where the current window wraps before a wide character.
---@param text string
---@param columns integer
---@return string
function M.fit(text, columns)
  if vim.fn.strwidth(text) <= columns then
    return text
  end
  return columns > 0 and vim.fn.printf('%.*S…', columns - 1, text) or ''
end

--- For single-line text such as names: line feeds and tabs become spaces.
---@param text string
---@param most integer Characters.
---@return string
function M.line(text, most)
  -- Only the part that can be shown is converted: a character has at most four bytes.
  return M.cut((M.visible(text:sub(1, most * 4 + 4)):gsub('[\n\t]+', ' ')), most)
end

return M
