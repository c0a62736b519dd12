import * as z from 'zod/mini';
import { defaultRounds, maxToolRounds } from '../../protocol/messages/chat.ts';
import { type InitializationOptions, minAgentContext } from '../../protocol/messages/initialize.ts';
import { defaultCatalogUrl, defaultSessionDays } from '../../protocol/messages/settings.ts';
import { exact, type Schema } from '../base/validate.ts';
import {
  absolutePath,
  address,
  api,
  approvals,
  checks,
  globs,
  keepAlive,
  milliseconds,
  modelCapabilities,
  refusal,
  servers,
  toolServers,
} from './valueSchemas.ts';

/** One key of `initializationOptions`. */
interface Setting {
  /** Created on demand, because no start checks all settings. */
  readonly schema: () => z.ZodMiniType;
  /** Absent if the setting has no default, or if the environment decides. */
  readonly default?: unknown;
  /**
   * When a changed value counts; absent: unless the client says that the workspace is not trusted. `with said trust` is
   * for what decides where prompts go, or what is started or read: a client that says nothing of trust cannot change
   * it. `at the start` is for `initializationOptions` alone, because a workspace may write settings.
   */
  readonly counts?: 'always' | 'with said trust' | 'at the start';
  /** Only a client sets it: it is unknown in the user's own configuration. */
  readonly isOfClient?: true;
  /** An object whose parts are settings of their own in VS Code, such as `runner.engine.keepRunning`. */
  readonly isGroup?: true;
  /** What it does, for users: in docs/PROTOCOL.md, and in the settings of VS Code. */
  readonly says: string;
}

type SettingsTable = {
  readonly [K in keyof InitializationOptions]-?: SettingOf<Required<InitializationOptions>[K]>;
};

interface SettingOf<T> extends Setting {
  readonly schema: () => Schema<T>;
  readonly default?: T;
}

/**
 * Every setting. A further one is its type in `protocol/messages/settings.ts` and its row here; `npm run generate`
 * then writes it into the pages, VS Code's manifest and Neovim's list.
 */
export const settings = {
  host: {
    schema: () => exact(address()),
    counts: 'with said trust',
    says: 'Address of the runner, with or without `/v1`, or the name of one of `servers`. If it is empty, `OLLAMA_HOST` is used, or else `http://127.0.0.1:11434`.',
  },
  api: {
    schema: () => exact(api()),
    default: 'auto',
    says: 'The API that the runner at `host` speaks: `ollama`, `openai` (llama.cpp, LM Studio, vLLM and others), or `auto`, which asks it.',
  },
  servers: {
    schema: () => exact(servers()),
    default: [],
    counts: 'with said trust',
    says: 'More runners, in addition to the one at `host`, whose name is `default`.',
  },
  caFile: {
    schema: () => exact(absolutePath()),
    counts: 'with said trust',
    says: 'Absolute path of a PEM file with certificates to trust for `host`.',
  },
  timeouts: {
    schema: () =>
      exact(
        z.object({
          connect: milliseconds(),
          list: milliseconds(),
          firstByte: milliseconds(),
          idle: milliseconds(),
          tool: milliseconds(),
          toolTotal: milliseconds(),
          toolStart: milliseconds(),
        }),
      ),
    default: {
      connect: 5_000,
      list: 10_000,
      firstByte: 600_000,
      idle: 300_000,
      tool: 60_000,
      toolTotal: 600_000,
      toolStart: 15_000,
    },
    says: 'Time limits in whole milliseconds, for runners that are slower than usual. 0 means no limit.',
  },
  keepAlive: {
    schema: () => exact(keepAlive()),
    counts: 'always',
    says: 'How long a model stays loaded after an answer: a number of seconds, or a duration such as `10m`. A negative value means forever. If it is empty, the runner decides.',
  },
  contextLength: {
    schema: () => exact(z.int().check(z.gte(0))),
    says: 'Size of the context window to ask for, in tokens. 0 leaves it to the runner.',
  },
  logLevel: {
    schema: () => exact(z.enum(['debug', 'info', 'warn', 'error'])),
    default: 'info',
    counts: 'always',
    says: 'The lowest level of messages that the daemon logs.',
  },
  chatModel: {
    schema: () => exact(z.string()),
    says: 'The model that answers in a chat, such as `qwen3:8b`. If it is empty, the model that you chose last answers, or else a loaded one, or else the newest one that can chat.',
  },
  completionModel: {
    schema: () => exact(z.string()),
    says: 'The model that completes code as you type, such as `qwen2.5-coder:1.5b`. If it is empty, nothing is completed.',
  },
  modelCapabilities: {
    schema: () => exact(modelCapabilities()),
    default: {},
    says: 'What a model can do, where Runner is wrong about it: by the name of the model any of `tools`, `vision`, `thinking` and `insert`, such as `{ "qwen3:8b": { "tools": true, "vision": false } }`. It counts more than what the runner says or refuses. A name without a tag stands for all its tags.',
  },
  exclude: {
    schema: () => exact(globs()),
    default: [],
    says: 'Globs of files whose text is sent only if you attach the file, such as `**/private/**`: at most 1,000 characters each, and 10,000 in total. The same applies to files that look like secrets.',
  },
  streamLogs: {
    schema: () => exact(z.boolean()),
    default: false,
    says: 'Shows the log of a runner on this machine in the log of the editor.',
  },
  cacheDir: {
    schema: () => exact(absolutePath()),
    counts: 'with said trust',
    says: 'Absolute path of a folder for data that may be kept between runs. If it is empty, nothing is kept.',
  },
  modelfilesPath: {
    schema: () => exact(z.string()),
    counts: 'with said trust',
    says: 'An additional folder whose Modelfiles are listed.',
  },
  catalogUrl: {
    schema: () => exact(address()),
    default: defaultCatalogUrl,
    counts: 'with said trust',
    says: 'Base address of the public catalog. If it is empty, `https://ollama.com` is used.',
  },
  keepSessions: {
    schema: () => exact(z.boolean()),
    default: true,
    says: 'Keeps conversations of the terminal, Neovim and the Agent Client Protocol on disk. If it is off, no conversation is written or listed.',
  },
  sessionDays: {
    schema: () => exact(z.int().check(z.gte(1), z.lte(36_500))),
    default: defaultSessionDays,
    says: 'A conversation is deleted after this many days without a turn, at most 36,500.',
  },
  engine: {
    schema: () => exact(z.object({ keepRunning: z.exactOptional(z.boolean()) })),
    default: { keepRunning: false },
    isGroup: true,
    says: 'If `keepRunning` is true, what Runner has started on this machine keeps running after the last program that uses it has ended, until `runner engine stop`.',
  },
  mcpServers: {
    schema: toolServers,
    default: {},
    counts: 'with said trust',
    says: 'Tool servers (MCP) by name, such as `{ "files": { "command": "npx", "args": ["-y", "server"] } }` or `{ "notes": { "url": "http://127.0.0.1:4000/mcp" } }`.',
  },
  approvals: {
    schema: approvals,
    default: {},
    counts: 'at the start',
    says: 'Tools that run without a question, by the name of their server: `"always"` for all of its tools, or the names of the tools.',
  },
  builtinTools: {
    schema: () => exact(z.boolean()),
    default: false,
    counts: 'at the start',
    says: 'True offers models the built-in tools, which read and edit files of the workspace. The mode of the chat says what you are asked.',
  },
  checks: {
    schema: checks,
    default: {},
    counts: 'at the start',
    says: 'Commands that models may run, by the absolute path of their project folder and by name, such as `{ "/home/ada/proj": { "test": { "command": ["npm", "test", "--", "{path}"], "timeout": 120 } } }`. No shell reads them, and you are asked before each.',
  },
  rounds: {
    schema: () => exact(z.int().check(z.gte(1), z.lte(maxToolRounds))),
    default: defaultRounds,
    counts: 'at the start',
    says: 'How often a model may call tools in one turn before it has to answer: rounds, at most 200. A turn can ask for others.',
  },
  agentContext: {
    schema: () => exact(z.int().check(z.gte(minAgentContext))),
    default: 16_384,
    counts: 'at the start',
    says: 'Size of the context window, in tokens, that the built-in tools ask for if nobody has chosen one: at least 3,072.',
  },
  projectRules: {
    schema: () => exact(z.boolean()),
    default: true,
    counts: 'at the start',
    says: 'True gives models with the built-in tools the rules in `AGENTS.md`, or else `CLAUDE.md`, of the project folder, if the workspace is trusted, and those in `AGENTS.md` beside your own configuration.',
  },
  trusted: {
    schema: () => exact(z.boolean()),
    default: true,
    counts: 'at the start',
    isOfClient: true,
    says: 'False if the user does not trust the workspace.',
  },
  sendsUserSettings: {
    schema: () => exact(z.boolean()),
    default: false,
    counts: 'at the start',
    isOfClient: true,
    says: 'True if the client sends only the settings of the user while the workspace is not trusted. These settings then apply immediately.',
  },
  refusedTools: {
    schema: () => exact(z.array(refusal())),
    default: [],
    counts: 'at the start',
    isOfClient: true,
    says: 'The `refusals` of the last `runner/tools/didRefuse` that an earlier daemon of the same editor session sent.',
  },
} as const satisfies SettingsTable;

/** With every default filled in. */
export type ResolvedSettings = {
  readonly [K in SettingWithDefault]: Required<InitializationOptions>[K];
} & { readonly [K in Exclude<keyof InitializationOptions, SettingWithDefault>]?: InitializationOptions[K] };

type SettingWithDefault = {
  [K in keyof typeof settings]: (typeof settings)[K] extends { readonly default: unknown } ? K : never;
}[keyof typeof settings];

export type SettingName = keyof typeof settings;

const rows = Object.entries(settings) as readonly (readonly [SettingName, Setting])[];

const defaults = Object.fromEntries(
  rows.flatMap(([name, row]) => (row.default === undefined ? [] : [[name, row.default]])),
);

export function withDefaults(options: InitializationOptions): ResolvedSettings {
  return { ...defaults, ...options } as ResolvedSettings;
}

/** Whether a setting may change after startup. */
export function isChangeable(name: string): boolean {
  return Object.hasOwn(settings, name) && settingOf(name).counts !== 'at the start';
}

/** Whether the user's own configuration may contain a setting. */
export function isOfUser(name: string): boolean {
  return Object.hasOwn(settings, name) && settingOf(name).isOfClient !== true;
}

/**
 * Whether a changed value of a setting counts, which may come from a workspace.
 * @param trusted whether the user trusts the workspace; undefined if the client does not say
 */
export function mayChange(name: string, trusted: boolean | undefined): boolean {
  const { counts } = settingOf(name);
  return counts === 'always' || (trusted ?? counts !== 'with said trust');
}

/** A schema for options with only these keys. Unknown keys are left out. Each row has the type of its key. */
export function schemaFor(given: object): Schema<InitializationOptions> {
  const present = rows.filter(([name]) => Object.hasOwn(given, name));
  const shape = Object.fromEntries(present.map(([name, { schema }]) => [name, schema()]));
  return z.object(shape) as unknown as Schema<InitializationOptions>;
}

function settingOf(name: string): Setting {
  return settings[name as SettingName];
}
