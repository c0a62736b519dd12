import type { TerminalCommand, TerminalCommands, WordCount } from '../cli/command.ts';
import { printCandidates, printCompletion, shells } from '../cli/shellCompletion.ts';
import { chat, chatAsAgent } from './chat.ts';
import { runDoctor } from './doctor.ts';
import { engineWords, runEngine } from './engine.ts';
import { followLogs, showConfig } from './inspection.ts';
import { runModel, unloadModel } from './loading.ts';
import { copyModel, createModel, pullModel, removeModel } from './modelChanges.ts';
import { showCatalog, showLoaded, showModels } from './models.ts';
import { promptWords, runPrompts } from './prompts.ts';
import { runSessions, sessionWords } from './sessions.ts';
import { showModel } from './show.ts';
import { listTools, mcpWords, runMcp } from './toolServers.ts';

const anyWords = { min: 0, max: Number.POSITIVE_INFINITY };
const oneModel: WordCount = { min: 1, max: 1, meaning: 'the name of a model' };
const oneShell: WordCount = { min: 1, max: 1, meaning: `a shell (${shells.join(', ')})`, offers: shells };

const chatFlags: NonNullable<TerminalCommand['flags']> = [
  'model',
  'system',
  'file',
  'image',
  'think',
  'format',
  'context',
  'option',
  'keep-alive',
  'tools',
  'allow',
  'check',
  'mode',
  'rounds',
  'no-rules',
  'continue',
  'session',
  'resume',
  'fork',
  'raw',
  ['yes', 'sends private files, and fetches pages, that the prompt names with @'],
];

/** All commands, in the order of the help. */
export const commands: TerminalCommands = new Map(
  Object.entries<TerminalCommand>({
    chat: {
      usage: 'chat [PROMPT]',
      summary: 'a conversation, or one answer to a prompt or standard input',
      group: 'Talking',
      words: { ...anyWords, meaning: 'a prompt' },
      flags: chatFlags,
      examples: [
        'runner chat "Why is the sky blue?"',
        'git diff | runner chat "Write a commit message for this:"',
        'runner chat "What does @src/main.ts do? The others: @src/**/*.ts"',
        'runner chat --system @style.md --file notes.md "Shorten these notes."',
        'runner chat --format schema.json "Name three rivers."',
        'runner chat --model qwen3:4b --think=high --option temperature=0.2',
      ],
      run: chat,
    },
    agent: {
      usage: 'agent [PROMPT]',
      summary: 'a chat that also reads and edits the files of this folder, as you allow',
      group: 'Talking',
      words: { ...anyWords, meaning: 'a prompt' },
      flags: chatFlags,
      examples: [
        'runner agent',
        'runner agent "Why does the test of src/total.ts fail? Fix it."',
        'runner agent --allow builtin/read_file "Where are dates parsed?" > answer.md',
      ],
      run: chatAsAgent,
    },
    prompts: {
      usage: 'prompts [allow|refuse]',
      summary: 'your prompts, which "/name" sends; "allow" allows those of this folder',
      group: 'Talking',
      words: { min: 0, max: 1, meaning: '"allow" or "refuse"', offers: promptWords },
      run: runPrompts,
    },
    tools: {
      usage: 'tools',
      summary: 'the tool servers that are entered, and what they offer',
      group: 'Talking',
      run: listTools,
    },
    mcp: {
      usage: 'mcp login|logout NAME',
      summary: 'logs in to a tool server at an address, or out',
      group: 'Talking',
      words: {
        min: 2,
        max: 2,
        meaning: '"login" or "logout", and the name of a tool server',
        offers: mcpWords,
      },
      flags: ['no-browser'],
      run: runMcp,
    },
    models: {
      usage: 'models',
      summary: 'what is installed, and what each model can do',
      group: 'Models',
      aliases: ['ls', 'list'],
      run: showModels,
    },
    show: {
      usage: 'show M',
      summary: 'all about a model: its parameters, its template, its license',
      group: 'Models',
      words: oneModel,
      run: showModel,
    },
    library: {
      usage: 'library [--cloud] [QUERY]',
      summary: 'the models that you can pull',
      group: 'Models',
      words: { ...anyWords, meaning: 'what to look for' },
      flags: ['cloud', 'refresh'],
      run: showCatalog,
    },
    pull: {
      usage: 'pull M',
      summary: 'downloads a model, or updates it',
      group: 'Models',
      words: oneModel,
      run: pullModel,
    },
    create: {
      usage: 'create NAME [-f FILE]',
      summary: 'makes a model from a Modelfile',
      group: 'Models',
      words: { ...oneModel, meaning: 'a name for the model' },
      flags: [['file', 'the Modelfile; - is standard input; without it ./Modelfile']],
      run: createModel,
    },
    cp: {
      usage: 'cp M NAME',
      summary: 'gives a model another name, and keeps the first',
      group: 'Models',
      words: { min: 2, max: 2, meaning: 'the name of a model and a new one' },
      isDestructive: true,
      run: copyModel,
    },
    rm: {
      usage: 'rm M [--yes]',
      summary: 'deletes a model',
      group: 'Models',
      words: oneModel,
      flags: ['yes'],
      isDestructive: true,
      run: removeModel,
    },
    run: {
      usage: 'run M [PROMPT]',
      summary: 'loads a model; with a prompt it answers, as "chat" does',
      group: 'Memory',
      words: { ...anyWords, min: 1, meaning: 'the name of a model' },
      flags: chatFlags.filter((flag) => flag !== 'model'),
      examples: ['runner run qwen3:4b --keep-alive 30m', 'runner run qwen3:4b "Why is the sky blue?"'],
      run: runModel,
    },
    ps: { usage: 'ps', summary: 'which models are loaded, and until when', group: 'Memory', run: showLoaded },
    stop: { usage: 'stop M', summary: 'unloads a model', group: 'Memory', words: oneModel, run: unloadModel },
    sessions: {
      usage: 'sessions [QUERY]',
      summary: 'your conversations; "show ID" prints one, "rm ID" deletes one',
      group: 'Talking',
      words: { ...anyWords, meaning: 'what to look for', offers: sessionWords },
      flags: ['markdown', 'raw', 'all', 'yes'],
      examples: [
        'runner sessions rivers',
        'runner sessions show k3f --markdown > rivers.md',
        'runner sessions rm k3f',
        'runner sessions rm --all --yes',
      ],
      run: runSessions,
    },
    engine: {
      usage: 'engine WORD [MODEL]',
      summary: 'a runner of its own, if you have none: install, start …',
      wordSummaries: engineWords,
      group: 'This machine',
      words: {
        ...{ min: 1, max: Number.POSITIVE_INFINITY, meaning: [...engineWords.keys()].join(', ') },
        offers: [...engineWords.keys()],
      },
      flags: [['yes', 'fetches or deletes without a question'], 'context', 'threads'],
      examples: [
        'runner engine install',
        'runner engine sample --yes',
        'runner engine models',
        'runner engine start ~/models/qwen3-4b.gguf --context 16k --threads 4',
        'runner engine stop',
      ],
      run: runEngine,
    },
    doctor: {
      usage: 'doctor',
      summary: 'problems, and how to fix them',
      group: 'This machine',
      run: runDoctor,
    },
    config: {
      usage: 'config',
      summary: 'every setting, its value and where it comes from',
      group: 'This machine',
      run: showConfig,
    },
    logs: { usage: 'logs', summary: 'follows what the runner logs', group: 'This machine', run: followLogs },
    completion: {
      usage: 'completion SHELL',
      summary: 'prints a script that completes commands, for bash, zsh, fish or powershell',
      group: 'This machine',
      words: oneShell,
      run: printCompletion,
    },
    __complete: {
      usage: '__complete -- WORD...',
      summary: 'what may stand in the place of the last word',
      words: { ...anyWords, meaning: 'the words so far' },
      run: (context) => printCandidates(context, commands),
    },
  }),
);
