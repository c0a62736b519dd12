--- Checks the values of `setup` against the schemas in settings.lua.
local M = {}

---@class runner.Schema
---@field type string|string[]
---@field enum? string[]
---@field minimum? number
---@field maximum? number
---@field items? runner.Schema
---@field properties? table<string, runner.Schema>
---@field required? string[]
---@field values? runner.Schema Of a table whose names are free.

local expected = {
  string = 'a text',
  integer = 'a whole number',
  number = 'a number',
  boolean = 'true or false',
  array = 'a list',
  object = 'a table with names',
}

---@type table<string, fun(value: any): boolean>
local is = {
  string = function(value)
    return type(value) == 'string'
  end,
  integer = function(value)
    return type(value) == 'number' and value == math.floor(value)
  end,
  number = function(value)
    return type(value) == 'number'
  end,
  boolean = function(value)
    return type(value) == 'boolean'
  end,
  array = vim.islist,
  -- An empty table may be a list or an object.
  object = function(value)
    return type(value) == 'table' and (next(value) == nil or not vim.islist(value))
  end,
}

---@param value any
---@return string
local function shown(value)
  if type(value) == 'string' then
    return ('"%s"'):format(require('runner.controls').line(value, 60))
  elseif type(value) == 'table' then
    return vim.islist(value) and 'a list' or 'a table with names'
  end
  return tostring(value)
end

---@param schema runner.Schema
---@return string[]
local function types_of(schema)
  return type(schema.type) == 'table' and schema.type or { schema.type }
end

---@param schema runner.Schema
---@return string
local function wanted(schema)
  if schema.enum then
    return ('one of "%s"'):format(table.concat(schema.enum, '", "'))
  end
  return table.concat(
    vim.tbl_map(function(one)
      return expected[one]
    end, types_of(schema)),
    ' or '
  )
end

---@param value any
---@param schema runner.Schema
---@return boolean
local function fits(value, schema)
  if schema.enum then
    return vim.list_contains(schema.enum, value)
  end
  return vim.iter(types_of(schema)):any(function(one)
    return is[one](value)
  end)
end

---@type fun(path: string, value: any, schema: runner.Schema): string?, string?
local find

---@param path string
---@param value table
---@param schema runner.Schema
---@return string? path, string? reason
local function find_inside(path, value, schema)
  for _, key in ipairs(schema.required or {}) do
    if value[key] == nil then
      return path, ('it needs "%s".'):format(key)
    end
  end
  for key, part in pairs(value) do
    local properties = schema.properties
    local inner = schema.items or schema.values or properties and properties[key]
    if properties and not inner then
      local known = vim.fn.sort(vim.tbl_keys(properties))
      return path, ('it has no "%s"; there are: %s.'):format(key, table.concat(known, ', '))
    end
    local name = schema.items and ('%s[%d]'):format(path, key) or ('%s.%s'):format(path, key)
    local wrong, reason = find(name, part, inner or {})
    if wrong then
      return wrong, reason
    end
  end
end

---@param path string
---@param value number
---@param schema runner.Schema
---@return string? path, string? reason
local function outside(path, value, schema)
  if schema.minimum and value < schema.minimum then
    return path, ('it must be at least %d, not %s.'):format(schema.minimum, value)
  elseif schema.maximum and value > schema.maximum then
    return path, ('it must be at most %d, not %s.'):format(schema.maximum, value)
  end
end

function find(path, value, schema)
  if not schema.type and not schema.enum then
    return nil
  elseif not fits(value, schema) then
    return path, ('it must be %s, not %s.'):format(wanted(schema), shown(value))
  elseif type(value) == 'number' then
    return outside(path, value, schema)
  elseif type(value) == 'table' then
    return find_inside(path, value, schema)
  end
end

--- A sentence if something is wrong.
---@param name string Of the option.
---@param value any
---@param schema runner.Schema
---@return string?
function M.problem(name, value, schema)
  -- nil and an empty text stand for the default.
  if value == nil or value == vim.NIL or value == '' then
    return nil
  end
  local path, reason = find(name, value, schema)
  return path and ('The option %s is wrong: %s'):format(path, reason) or nil
end

return M
