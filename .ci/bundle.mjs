// Packs `runner-docs mcp` as a bundle that desktop apps install with a click (MCPB).
// Usage: node .ci/bundle.mjs [FILE.mcpb]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { minified } from './minified.mjs';
import { zipped } from './zipped.mjs';

/** What only `serve` needs. */
const leftOut = new Set(['service.cjs', 'fontBook.cjs']);

const { version, license } = JSON.parse(readFileSync('package.json', 'utf8'));

/** https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md */
const manifest = {
  manifest_version: '0.4',
  name: 'runner-docs',
  display_name: 'Your documents',
  version,
  description: 'Searches and reads a folder of Markdown files on this machine.',
  long_description:
    'Choose a folder with Markdown files. The agent searches them, reads them whole or in parts, and quotes them. Nothing is written into the folder, and nothing is sent anywhere. The index is kept in the folder .runner-docs of your home folder.',
  author: { name: 'The Runner authors' },
  license,
  keywords: ['documents', 'markdown', 'search'],
  server: {
    type: 'node',
    entry_point: 'server/runner-docs.cjs',
    mcp_config: {
      command: 'node',
      args: [
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the app puts its values there
        ...['${__dirname}/server/runner-docs.cjs', 'mcp', '--content', '${user_config.content}'],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
        ...['--data', '${HOME}/.runner-docs'],
      ],
    },
  },
  tools: [
    { name: 'search_docs', description: 'Finds documents by words, phrases, type and tag.' },
    { name: 'get_doc_markdown', description: 'Reads a document, or a section of it, as Markdown.' },
    { name: 'list_collections', description: 'Lists how the library is arranged.' },
  ],
  prompts_generated: true,
  user_config: {
    content: {
      type: 'directory',
      title: 'Folder of documents',
      description: 'The folder with your Markdown files. It is only read.',
      required: true,
    },
  },
  // Before Node 24, SQLite would need a part that differs from system to system.
  compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: '>=24.0.0' } },
};

const parts = readdirSync('dist/docs-service').filter((name) => name.endsWith('.cjs') && !leftOut.has(name));
const programs = ['runner-docs.cjs', ...parts.map((name) => `docs-service/${name}`)];
const files = [
  ['manifest.json', `${JSON.stringify(manifest, null, 2)}\n`],
  ['LICENSE', readFileSync('LICENSE')],
];
for (const name of programs)
  files.push([`server/${name}`, await minified(`dist/${name}`, { shortensNames: true })]);
writeFileSync(resolve(process.argv[2] ?? 'dist/runner-docs.mcpb'), zipped(files));
