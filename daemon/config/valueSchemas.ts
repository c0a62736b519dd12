import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import { messageOf } from '../../protocol/base/text.ts';
import { parseAddress } from '../../protocol/messages/settings.ts';
import type { Checks, ToolServers } from '../../protocol/messages/tools.ts';
import { exact, type Schema } from '../base/validate.ts';

export const address = () =>
  z.string().check(
    z.superRefine((text, context) => {
      try {
        parseAddress(text);
      } catch (error) {
        context.addIssue({
          code: 'custom',
          message: messageOf(error),
        });
      }
    }),
  );

export const absolutePath = () =>
  z.string().check(z.refine((path) => path === '' || isAbsolute(path), 'it is not an absolute path'));

/** A whole number that a timer can take; 0 means no limit. */
export const milliseconds = () => z.exactOptional(z.int().check(z.gte(0), z.lte(2 ** 31 - 1)));

export const api = () => z.enum(['auto', 'ollama', 'openai']);

const server = () =>
  z.object({
    name: z
      .string()
      .check(z.regex(/^[\w.-]{1,64}$/, 'a name has up to 64 letters, digits, ".", "_" and "-"')),
    url: address(),
    caFile: z.exactOptional(absolutePath()),
    api: z.exactOptional(api()),
  });

export const servers = () =>
  z.array(server(), 'it must be a list of { "name": "…", "url": "…" }').check(
    z.superRefine((list, context) => {
      const names = ['default', ...list.map(({ name }) => name)];
      const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
      if (twice > 0)
        context.addIssue({ code: 'custom', path: [twice - 1, 'name'], message: 'the name is taken' });
    }),
  );

const noDuration = 'it is neither seconds nor a duration such as "10m"';

/** Seconds, or a duration with a unit; negative means forever. */
export const keepAlive = () =>
  z.union(
    [z.number(), z.string().check(z.regex(/^-?\d+$|^-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/, noDuration))],
    noDuration,
  );

export const modelCapabilities = () => {
  const said = () => z.exactOptional(z.boolean());
  return z.record(z.string(), z.object({ tools: said(), vision: said(), thinking: said(), insert: said() }));
};

/** Bounded, because each file that completion sends is matched against all of them (`daemon/base/pathRules.ts`). */
export const globs = () =>
  z
    .array(z.string().check(z.maxLength(1_000, 'a glob has at most 1,000 characters')))
    .check(
      z.refine((all) => all.join('').length <= 10_000, 'all globs together have at most 10,000 characters'),
    );

export const refusal = () =>
  z.object({
    url: z.string(),
    model: z.string(),
    digest: z.exactOptional(z.string()),
  });

/** Each entry is checked where it is used, so that a wrong one does not affect the others. */
export const toolServers = () => z.record(z.string(), z.unknown()) as unknown as Schema<ToolServers>;

export const approvals = () =>
  exact(
    z.record(
      z.string(),
      z.union([z.literal('always'), z.array(z.string())], 'it is neither "always" nor a list of tools'),
    ),
  );

/** Where the path of a call goes. */
export const pathWord = '{path}';

const word = () =>
  z.string().check(
    z.maxLength(4_096, 'a word has at most 4,096 characters'),
    z.refine((text) => !text.includes('\0'), 'a word has no NUL'),
  );

const command = () =>
  z.array(word(), 'it is no list of words, such as ["npm", "test"]').check(
    z.minLength(1, 'it is empty'),
    z.maxLength(100, 'it has at most 100 words'),
    z.refine(([program]) => program !== '' && !program?.includes(pathWord), 'its first word is no program'),
    z.refine(
      (words) => words.every((each) => each === pathWord || !each.includes(pathWord)),
      `${pathWord} is a word of its own`,
    ),
  );

const variable = /^[^=\0]{1,256}$/;

const check = () =>
  z.object({
    command: command(),
    timeout: z.exactOptional(z.int().check(z.gte(1), z.lte(86_400))),
    env: z.exactOptional(
      z
        .record(z.string(), word())
        .check(z.refine((env) => Object.keys(env).every((name) => variable.test(name)), 'a name is wrong')),
    ),
  });

/** The names become those of a tool's argument, and stand in questions. */
const checkName = /^[A-Za-z0-9][\w.-]{0,31}$/;
const maxChecks = 20;
const maxProjects = 200;

export const checks = (): Schema<Checks> =>
  exact(
    z
      .record(
        z.string(),
        z.record(z.string(), check()).check(
          z.refine(
            (named) => Object.keys(named).every((name) => checkName.test(name)),
            'a name has up to 32 letters, digits, ".", "_" and "-"',
          ),
          z.refine(
            (named) => Object.keys(named).length <= maxChecks,
            `a folder has at most ${maxChecks} checks`,
          ),
        ),
      )
      .check(
        z.refine(
          (folders) => Object.keys(folders).every((folder) => isAbsolute(folder)),
          'a folder is not an absolute path',
        ),
        z.refine(
          (folders) => Object.keys(folders).length <= maxProjects,
          `it has at most ${maxProjects} folders`,
        ),
      ),
  );
