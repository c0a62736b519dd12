import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { needs } from '../support/parts.ts';
import { patience } from '../support/waiting.ts';

/** What Neovim's own client says of a line: where it would underline, and why. */
interface Diagnostic {
  readonly lnum: number;
  readonly col: number;
  readonly end_col: number;
  readonly message: string;
}

/** Starts `runnerd` as any language server, waits for what it says of the open file, and prints that. */
const script = `
vim.lsp.start_client({
  name = 'runnerd',
  cmd = { vim.env.NODE, vim.env.RUNNERD, '--stdio' },
  init_options = {},
  on_init = function(client)
    vim.bo.filetype = 'modelfile'
    vim.lsp.buf_attach_client(0, client.id)
  end,
})
local function told(count)
  return vim.wait(8000, function() return #vim.diagnostic.get(0) == count end, 10)
end
assert(told(2), 'no diagnostics came')
local first = vim.diagnostic.get(0)
vim.api.nvim_buf_set_lines(0, 2, 3, true, { 'PARAMETER temperature 0.2' })
assert(told(1), 'the correction was not seen')
local hover = vim.lsp.buf_request_sync(0, 'textDocument/hover', {
  textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 2, character = 12 },
}, 4000)
local file = io.open(vim.env.OUT, 'w')
file:write(vim.fn.json_encode({ first = first, hover = hover, rest = vim.diagnostic.get(0) }))
file:close()
vim.cmd('qa!')
`;

t.test(
  'a Modelfile with mistakes is underlined in Neovim, by its own language client',
  needs('systemNeovim'),
  async (t) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runner-neovim-')));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const [modelfile, recipe, out] = ['Modelfile', 'recipe.lua', 'out.json'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    writeFileSync(modelfile, 'FROM qwen3:4b\nADAPTER ./lora.gguf\nPARAMETER temperature warm\n');
    writeFileSync(recipe, script);
    const { stderr } = spawnSync(
      'nvim',
      ['--clean', '--headless', modelfile, '-c', `luafile ${recipe}`, '-c', 'cq'],
      {
        encoding: 'utf8',
        timeout: patience,
        env: {
          ...{ PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: folder, XDG_CACHE_HOME: folder },
          ...{ NODE: process.execPath, RUNNERD: resolve('dist/runnerd.cjs'), OUT: out },
        },
      },
    );
    t.equal(stderr, '');
    const { first, hover, rest } = JSON.parse(readFileSync(out, 'utf8'));
    const places = first.map(({ lnum, col, end_col, message }: Diagnostic) => [lnum, col, end_col, message]);
    t.strictSame(places, [
      [1, 8, 19, `There is no file or folder ${join(folder, 'lora.gguf')}.`],
      [2, 22, 26, 'temperature needs a number.'],
    ]);
    t.strictSame(
      rest.map(({ lnum }: Diagnostic) => lnum),
      [1],
    );
    t.match(JSON.stringify(hover), /How freely the model chooses/);
  },
);
