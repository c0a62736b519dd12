// Makes what a release has, in dist/release/: the extension, the npm package, the bundle for desktop apps, and their
// checksums as `sha256sum --check` reads them. Usage: node .ci/release.mjs [TAG]   a tag has to be the version's
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const [tag = `v${version}`] = process.argv.slice(2);
if (tag !== `v${version}`) end(`The tag ${tag} is not that of version ${version}: v${version}.`);
const folder = join('dist', 'release');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
runScript('.ci/package.mjs', join(folder, `runner-${version}.vsix`));
runScript('.ci/bundle.mjs', join(folder, `runner-docs-${version}.mcpb`));
runScript('.ci/npmPackage.mjs', folder);
const sums = readdirSync(folder)
  .sort()
  .map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(folder, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));

function runScript(...words) {
  if (spawnSync(process.execPath, words, { stdio: 'inherit' }).status !== 0)
    end(`${words.join(' ')} failed.`);
}

function end(problem) {
  console.error(problem);
  process.exit(1);
}
