-- Runs what the tests send, one JSON line each, in the editor's own loop, where keys are typed and events happen.
local pipe = assert(vim.uv.new_pipe(false))
local buffer = ''

local function run(source, argument)
  local ok, value = pcall(assert(load(source)), argument)
  return ok and { value = value } or { error = tostring(value) }
end

local function answer(line)
  local asked = vim.json.decode(line, { luanil = { object = true, array = true } })
  local reply = run(asked.source, asked.argument)
  reply.id = asked.id
  pipe:write(vim.json.encode(reply) .. '\n')
end

pipe:connect(vim.env.RUNNER_DRIVER_SOCKET, function(problem)
  assert(not problem, problem)
  pipe:read_start(function(_, text)
    buffer = buffer .. (text or '')
    for line in buffer:gmatch('([^\n]*)\n') do
      vim.schedule(function()
        answer(line)
      end)
    end
    buffer = buffer:match('[^\n]*$')
  end)
end)
