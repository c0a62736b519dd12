import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Agent, agentEntry, agents, isAgent, type Reach } from '../agents/agentEntry.ts';
import { parseBaseUrl } from '../base/baseUrl.ts';
import { refusePassword } from '../base/databaseAddress.ts';
import { UsageError } from '../base/usageError.ts';
import type { Surroundings } from '../cli/surroundings.ts';
import { type Places, parsePlaces, placeOptions } from '../serveConfig.ts';
import { defineCommand } from './command.ts';

/** The default address of `serve`. */
export const usualOrigin = 'http://127.0.0.1:4000';

export const connectCommand = defineCommand({
  usage: 'connect AGENT',
  summary: `Prints the entry that connects an agent: ${agents.join(', ')}.`,
  words: 1,
  options: {
    ...placeOptions,
    'base-url': {
      type: 'string',
      value: 'URL',
      help: `the address that readers use (default: ${usualOrigin})`,
    },
    stdio: { type: 'boolean', help: 'the agent starts runner-docs itself: no service, no token, no drafts' },
  },
  async run({ values, words: [word = ''] }, surroundings) {
    const { print, note } = surroundings;
    const agent = parseAgent(word);
    const reach = values.stdio
      ? stdioReach(parsePlaces(values, surroundings.env), surroundings)
      : httpReach(values);
    const { entry, advice } = agentEntry(agent, reach);
    print(`${entry}\n`);
    note(`${advice}\n`);
    const { content } = parsePlaces(values, surroundings.env);
    if (values.stdio && !(await stat(content).catch(() => undefined))?.isDirectory())
      note(`There is no folder ${content}. Name yours with --content.\n`);
    return 0;
  },
});

function httpReach(values: { readonly 'base-url': string | undefined }): Reach {
  const { origin } = parseBaseUrl(values['base-url'] ?? usualOrigin);
  return { kind: 'http', url: `${origin}/mcp` };
}

/** With absolute paths, because an agent starts it in a folder of its own. */
function stdioReach({ content, data, database }: Places, { program }: Pick<Surroundings, 'program'>): Reach {
  if (database !== undefined) refusePassword(database);
  const shared = database === undefined ? [] : ['--database', database];
  const args = [resolve(program), 'mcp', '--content', content, '--data', data, ...shared];
  return { kind: 'stdio', command: process.execPath, args };
}

function parseAgent(word: string): Agent {
  if (isAgent(word)) return word;
  throw new UsageError(`there is no agent "${word}"; the agents are ${agents.join(', ')}.`);
}
