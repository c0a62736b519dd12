import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { runnerdPath } from '../support/daemonProcess.ts';
import { needs, places } from '../support/parts.ts';
import { startStandIn } from '../support/runnerStandIn.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { echo, toolServerPath } from '../support/toolDaemon.ts';
import { patience } from '../support/waiting.ts';

const parts = needs('foreignClients');

/** What a client in Python prints, and what it complains of. */
async function run(folder: string, host: string, args: readonly string[]) {
  const python = join(places.foreignClients, 'bin', 'python');
  const { stdout, stderr } = await promisify(execFile)(python, [...args], {
    timeout: patience,
    env: {
      ...{ PATH: process.env['PATH'], HOME: folder, OLLAMA_HOST: host },
      ...{ XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder },
    },
  });
  return { answer: JSON.parse(stdout), stderr };
}

t.test(
  "the Python SDK of the Agent Client Protocol takes every message, a tool's call too",
  parts,
  async (t) => {
    const runner = await startStandIn({
      models: [{ name: 'able:8b', capabilities: ['completion', 'tools', 'thinking'] }],
    });
    t.teardown(() => runner.close());
    runner.toolCalls([echo('hi')], { text: 'Let me see. ' });
    runner.think('Hm.', 'It says hi.');
    const client = resolve('test/support/acpClient.py');
    const { answer, stderr } = await run(await temporaryFolder(t), runner.url, [
      ...[client, toolServerPath, process.execPath, runnerdPath, '--acp'],
    ]);
    t.same(answer, {
      ...{ agent: 'runnerd', pickers: ['model', 'thinking'], text: 'Let me see. It says hi.' },
      statuses: ['pending', 'in_progress', 'completed'],
      asked: ['Echo (files) word=hi'],
      stopReason: 'end_turn',
    });
    t.equal(stderr, '', 'nothing that it could not read');
  },
);

t.test('pytest-lsp accepts every message of the language server', parts, async (t) => {
  const runner = await startStandIn();
  t.teardown(() => runner.close());
  const client = resolve('test/support/lspClient.py');
  const { answer, stderr } = await run(await temporaryFolder(t), runner.url, [
    ...[client, process.execPath, runnerdPath, '--stdio'],
  ]);
  t.same(answer, {
    ...{ server: 'runnerd', hover: true, completion: true },
    diagnostics: ['temperature needs a number.'],
  });
  t.notMatch(stderr, /error|Traceback/i);
});

/** A folder with a Modelfile that has a mistake, and with `runnerd` and the lines of the page for an editor. */
async function modelfileFolder(language: string) {
  const page = await readFile('docs/MODELFILES.md', 'utf8');
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  const [lines = '', further = ''] = [...blocks].map(([, block]) => block);
  const folder = await temporaryFolder(t, {
    Modelfile: 'FROM qwen3:4b\nPARAMETER temperature warm\n',
    'bin/runnerd': `#!/bin/sh\nexec "${process.execPath}" "${resolve(runnerdPath)}" "$@"\n`,
  });
  await chmod(join(folder, 'bin', 'runnerd'), 0o755);
  const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, HOME: folder, TERM: 'dumb' };
  return { lines, further, folder, options: { cwd: folder, env, timeout: patience } };
}

t.test('Emacs shows the mistakes of a Modelfile with the lines of the page', needs('eglot'), async (t) => {
  const { lines, folder, options } = await modelfileFolder('elisp');
  const script = `(package-initialize) ${lines}
    (setq project-find-functions (list (lambda (folder) (cons 'transient folder))))
    (find-file "Modelfile") (require 'eglot) (call-interactively #'eglot)
    (let ((rounds 0))
      (while (and (< rounds 100) (null (flymake-diagnostics)))
        (accept-process-output nil 0.1) (flymake-start) (setq rounds (1+ rounds))))
    (princ (mapconcat #'flymake-diagnostic-text (flymake-diagnostics) "; ")) (kill-emacs)`;
  await writeFile(join(folder, 'try.el'), script);
  const { stdout, stderr } = await promisify(execFile)('emacs', ['--batch', '-l', 'try.el'], options);
  t.match(stdout, 'temperature needs a number.', stderr);
});

t.test(
  'lsp-mode shows the mistakes of a Modelfile with the lines of the page',
  needs('lspMode'),
  async (t) => {
    const { lines, further, folder, options } = await modelfileFolder('elisp');
    const script = `(package-initialize) ${lines} ${further} (require 'lsp-mode)
    (setq lsp-auto-guess-root t lsp-enable-file-watchers nil lsp-session-file (expand-file-name "session"))
    (find-file "Modelfile") (lsp)
    (let ((rounds 0))
      (while (and (< rounds 100) (zerop (hash-table-count (lsp-diagnostics))))
        (accept-process-output nil 0.1) (setq rounds (1+ rounds))))
    (maphash (lambda (_ found) (princ (mapconcat #'lsp:diagnostic-message found "; "))) (lsp-diagnostics))
    (kill-emacs)`;
    await writeFile(join(folder, 'try.el'), script);
    const { stdout, stderr } = await promisify(execFile)('emacs', ['--batch', '-l', 'try.el'], options);
    t.match(stdout, 'temperature needs a number.', stderr);
    t.notMatch(stderr, 'Unknown notification');
  },
);

t.test(
  'Vim with ALE shows the mistakes of a Modelfile with the lines of the page',
  needs('ale'),
  async (t) => {
    const { lines, folder, options } = await modelfileFolder('vim');
    await writeFile(join(folder, 'vimrc'), `packadd! ale\n${lines}`);
    const script = `for i in range(100)
    sleep 100m
    if !empty(ale#engine#GetLoclist(bufnr('%'))) | break | endif
  endfor
  call writefile(map(copy(ale#engine#GetLoclist(bufnr('%'))), 'v:val.text'), 'out')
  qa!`;
    await writeFile(join(folder, 'try.vim'), script);
    await promisify(execFile)('vim', ['--not-a-term', '-Nu', 'vimrc', 'Modelfile', '-S', 'try.vim'], options);
    t.match(await readFile(join(folder, 'out'), 'utf8'), 'temperature needs a number.');
  },
);
