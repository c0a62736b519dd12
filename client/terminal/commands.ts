import { chat } from './chat.ts';
import type { Command, Commands, WordCount } from './command.ts';
import { printCandidates, printCompletion, shells } from './completion.ts';
import { createModel } from './create.ts';
import { runDoctor } from './doctor.ts';
import { showLibrary } from './library.ts';
import { listTools } from './listTools.ts';
import { loadModel, unloadModel } from './loading.ts';
import { followLogs } from './logs.ts';
import { showModels } from './models.ts';
import { pullModel } from './pull.ts';
import { removeModel } from './remove.ts';
import { runSessions, sessionWords } from './sessions.ts';
import { showModel } from './show.ts';

const anyWords = { least: 0, most: Number.POSITIVE_INFINITY };
const oneModel: WordCount = { least: 1, most: 1, meaning: 'the name of a model', offers: 'models' };
const oneShell: WordCount = { least: 1, most: 1, meaning: `a shell (${shells.join(', ')})`, offers: shells };

/** What the program can do, in the order in which the help lists it. */
export const commands: Commands = new Map<string, Command>([
  [
    'chat',
    {
      usage: 'chat [--continue] [--tools T] [PROMPT]',
      summary: 'a conversation, or one answer to a prompt or standard input',
      group: 'Talking',
      words: { ...anyWords, meaning: 'a prompt' },
      flags: ['--model', '--tools', '--allow', '--continue', '--session'],
      run: chat,
    },
  ],
  [
    'tools',
    {
      usage: 'tools',
      summary: 'the tool servers that are entered, and what they offer',
      group: 'Talking',
      run: listTools,
    },
  ],
  [
    'models',
    {
      usage: 'models',
      summary: 'what is installed, and what each model can do',
      group: 'Models',
      run: showModels,
    },
  ],
  [
    'show',
    {
      usage: 'show M',
      summary: 'all about a model: its parameters, its template, its license',
      group: 'Models',
      words: oneModel,
      run: showModel,
    },
  ],
  [
    'library',
    {
      usage: 'library [--cloud] [QUERY]',
      summary: 'what there is to pull',
      group: 'Models',
      words: { ...anyWords, meaning: 'what to look for' },
      flags: ['--cloud', '--refresh'],
      run: showLibrary,
    },
  ],
  [
    'pull',
    {
      usage: 'pull M',
      summary: 'downloads a model, or what is new of it',
      group: 'Models',
      words: oneModel,
      run: pullModel,
    },
  ],
  [
    'create',
    {
      usage: 'create NAME [-f FILE]',
      summary: 'makes a model from a Modelfile',
      group: 'Models',
      words: { ...oneModel, meaning: 'a name for the model' },
      flags: ['--file'],
      run: createModel,
    },
  ],
  [
    'rm',
    {
      usage: 'rm M [--yes]',
      summary: 'deletes a model',
      group: 'Models',
      words: oneModel,
      flags: ['--yes'],
      run: removeModel,
    },
  ],
  [
    'run',
    {
      usage: 'run M [--keep-alive D]',
      summary: 'loads a model',
      group: 'Memory',
      words: oneModel,
      flags: ['--keep-alive'],
      run: loadModel,
    },
  ],
  [
    'stop',
    { usage: 'stop M', summary: 'unloads a model', group: 'Memory', words: oneModel, run: unloadModel },
  ],
  [
    'sessions',
    {
      usage: 'sessions [QUERY]',
      summary: 'your conversations; "show ID" prints one, "rm ID" deletes one',
      group: 'Talking',
      words: { ...anyWords, meaning: 'what to look for', offers: sessionWords, further: 'sessions' },
      flags: ['--markdown', '--all', '--yes'],
      run: runSessions,
    },
  ],
  [
    'doctor',
    {
      usage: 'doctor',
      summary: 'what would go wrong, and how to mend it',
      group: 'This machine',
      run: runDoctor,
    },
  ],
  [
    'logs',
    { usage: 'logs', summary: 'follows what the runner logs', group: 'This machine', run: followLogs },
  ],
  [
    'completion',
    {
      usage: `completion ${shells.join('|')}`,
      summary: 'prints a script that completes commands and names of models',
      group: 'This machine',
      words: oneShell,
      run: printCompletion,
    },
  ],
  [
    '__complete',
    {
      usage: '__complete -- WORD...',
      summary: 'what may stand in the place of the last word',
      words: { ...anyWords, meaning: 'the words so far' },
      run: (surroundings, { words }) => printCandidates(surroundings, commands, words),
    },
  ],
]);
