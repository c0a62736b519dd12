import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import type { InitializationOptions, RunnerOptions } from '../../protocol/initialize.ts';
import type { Schema } from '../rpc/validate.ts';
import { parseAddress } from '../runner/address.ts';

const address = z.string().check(
  z.superRefine((text, context) => {
    try {
      parseAddress(text);
    } catch (error) {
      context.addIssue({
        code: 'custom',
        message: error instanceof Error ? error.message : 'it is not an address',
      });
    }
  }),
);

const absolutePath = z
  .string()
  .check(z.refine((path) => path === '' || isAbsolute(path), 'it is not an absolute path'));

/** Whole, and no more than a timer takes; 0 is no limit. */
const milliseconds = z.exactOptional(z.int().check(z.gte(0), z.lte(2 ** 31 - 1)));

const server = z.object({
  name: z.string().check(z.regex(/^[\w.-]{1,64}$/, 'a name has up to 64 letters, digits, ".", "_" and "-"')),
  url: address,
  caFile: z.exactOptional(absolutePath),
});

const servers = z.array(server).check(
  z.superRefine((list, context) => {
    const names = ['default', ...list.map(({ name }) => name)];
    const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
    if (twice > 0)
      context.addIssue({ code: 'custom', path: [twice - 1, 'name'], message: 'the name is taken' });
  }),
);

/** Seconds, or a duration with a unit; negative is for ever. */
export const keepAlive = z.union(
  [z.number(), z.string().check(z.regex(/^-?\d+$|^-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/))],
  'it is neither seconds nor a duration such as "10m"',
);

const settings = {
  host: z.exactOptional(address),
  servers: z.exactOptional(servers),
  completionModel: z.exactOptional(z.string()),
  streamLogs: z.exactOptional(z.boolean()),
  trusted: z.exactOptional(z.boolean()),
  logLevel: z.exactOptional(z.enum(['debug', 'info', 'warn', 'error'])),
  cacheDir: z.exactOptional(absolutePath),
  modelfilesPath: z.exactOptional(z.string()),
  keepAlive: z.exactOptional(keepAlive),
  contextLength: z.exactOptional(z.int().check(z.gte(0))),
  catalogUrl: z.exactOptional(address),
  exclude: z.exactOptional(z.array(z.string())),
  caFile: z.exactOptional(absolutePath),
  timeouts: z.exactOptional(
    z.object({ connect: milliseconds, list: milliseconds, firstByte: milliseconds, idle: milliseconds }),
  ),
};

/** The settings under `runner`. */
export const optionsSchema: Schema<RunnerOptions> = z.object(settings);

const refusal = z.object({
  url: z.string(),
  model: z.string(),
  digest: z.exactOptional(z.string()),
});

/** `initializationOptions`: the settings, and what else a daemon is told at its start alone. */
export const initializationSchema: Schema<InitializationOptions> = z.object({
  ...settings,
  refusedTools: z.exactOptional(z.array(refusal)),
});

/** Editors say `null` or `""` for what is not set; it is left out. */
export function withoutUnset(settings: unknown): unknown {
  if (typeof settings !== 'object' || settings === null) return {};
  const kept = Object.entries(settings).filter(
    ([key, value]) => value !== null && (value !== '' || key === 'completionModel'),
  );
  return Object.fromEntries(kept);
}
