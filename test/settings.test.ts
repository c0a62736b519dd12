import { readFileSync } from 'node:fs';
import t from 'tap';
import { editorSettings, generatedFiles, readManifestSettings } from '../.ci/generatedFiles.ts';
import { names, rowOf } from '../.ci/settingsPages.ts';

t.test('every file that is made from a table of the programs is up to date', async (t) => {
  for (const { path, generate } of generatedFiles) {
    const now = readFileSync(path, 'utf8');
    t.equal(now, generate(now), `${path} ("npm run generate" writes it)`);
  }
});

t.test("VS Code's defaults are the daemon's, or leave the value to the daemon", async (t) => {
  const properties = readManifestSettings();
  for (const name of editorSettings) {
    const { default: value } = properties[`runner.${name}`] ?? {};
    const isEmpty = value === 0 || Object.keys(Object(value)).length === 0;
    t.ok(isEmpty && value !== true ? true : value === rowOf(name).default, name);
  }
});

t.test('every setting says what it does, in sentences', async (t) => {
  for (const name of names) t.match(rowOf(name).says, /^[A-Z][^|]*[.]$/, name);
});
