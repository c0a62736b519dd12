import { spawnSync } from 'node:child_process';
import t from 'tap';
import { documentsManual, prose, runnerManual } from '../.ci/manualPages.ts';
import { flagsOf, listedCommands } from '../client/terminal/cli/command.ts';
import { commands } from '../client/terminal/commands/commands.ts';
import { commands as documentCommands } from '../docs-service/cli/program.ts';
import { needs } from './support/parts.ts';

const pages = { runner: runnerManual(), 'runner-docs': documentsManual() };

/** What stands on the page, without fonts and escapes. */
function shown(page: string): string {
  return page
    .replace(/\\f[BIR]/g, '')
    .replaceAll('\\-', '-')
    .replaceAll('\\(ti', '~')
    .replaceAll('\\(aq', "'");
}

t.test('the manual has every command and every flag of the help', async (t) => {
  const runner = shown(pages.runner);
  for (const [, command] of listedCommands(commands)) {
    t.ok(runner.includes(`\n.TP\nrunner ${command.usage}\n`), command.usage);
    for (const [name, summary] of flagsOf(command))
      t.match(runner, new RegExp(`^(?:-., )?--${name}\\b.*\\n.?.?${literal(summary)}$`, 'm'), `--${name}`);
  }
  const documents = shown(pages['runner-docs']);
  for (const { usage, options } of Object.values(documentCommands)) {
    t.ok(documents.includes(`\n.TP\nrunner-docs ${usage}\n`), usage);
    for (const name of Object.keys(options)) t.match(documents, new RegExp(`^--${name}\\b`, 'm'), name);
  }
});

/** As a regular expression. The ellipsis is an escape on the page. */
function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '\\\\\\[u2026\\]');
}

t.test('text is shown as it is', async (t) => {
  const cases = {
    '.hidden': '\\&.hidden',
    "'quoted' by `this`": '\\(aqquoted\\(aq by \\(gathis\\(ga',
    'C:\\new --flag': 'C:\\(rsnew \\-\\-flag',
    'a\n.SH b': 'a .SH b',
    '~/x^2 …': '\\(ti/x\\(ha2 \\[u2026]',
    '\u{1F600}': '\\[u1F600]',
  };
  for (const [text, roff] of Object.entries(cases)) t.equal(prose(text), roff);
});

for (const [name, page] of Object.entries(pages)) {
  t.test(`the page of ${name} has only requests and escapes that every man knows`, async (t) => {
    const lines = page.split('\n').slice(1);
    t.same(
      [...page].filter((character) => character > '~'),
      [],
    );
    t.same(
      lines.filter((line) => /^[.']/.test(line) && !/^\.(?:TH|SH|SS|PP|TP|RS|RE|nf|fi|nh|ad)\b/.test(line)),
      [],
    );
    const rest = lines.join('\n').replace(/\\(?:[-&]|f[BIR]|\((?:rs|aq|ga|ha|ti)|\[u[0-9A-F]{4,5}\])/g, '');
    t.notOk(rest.includes('\\'), 'no other escape');
    const count = (request: string) => lines.filter((line) => line === request).length;
    t.equal(count('.RS'), count('.RE'));
  });

  t.test(`groff finds nothing wrong with the page of ${name}`, needs('groff'), async (t) => {
    const { status, stderr } = spawnSync('groff', ['-man', '-ww', '-Tutf8', '-z'], {
      input: page,
      encoding: 'utf8',
    });
    t.equal(stderr, '');
    t.equal(status, 0);
  });
}
