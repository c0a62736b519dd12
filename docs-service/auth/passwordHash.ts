import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { UsageError } from '../base/usageError.ts';

/** In characters. */
const shortest = 12;
const longest = 1_000;

/** 64 MB and two passes for each guess, as OWASP's "Password Storage Cheat Sheet" recommends. */
const costs = { N: 65_536, r: 8, p: 2 };
const keyLength = 32;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Throws UsageError for a password that is too short or too long. */
export function checkPassword(password: string): void {
  const { length } = [...password.trim()];
  if (length < shortest)
    throw new UsageError(`the password needs at least ${shortest} characters, and has ${length}.`);
  if (length > longest) throw new UsageError(`the password may have at most ${longest} characters.`);
}

/** Resolves to a text that contains the salt and the costs, so that later versions can raise the costs. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(normalize(password), salt, keyLength, optionsOf(costs));
  const { N, r, p } = costs;
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [kind, N, r, p, salt = '', key = ''] = hash.split('$');
  if (kind !== 'scrypt' || password.length > 4 * longest) return false;
  const expected = Buffer.from(key, 'base64url');
  const options = optionsOf({ N: Number(N), r: Number(r), p: Number(p) });
  try {
    const found = await derive(normalize(password), Buffer.from(salt, 'base64url'), expected.length, options);
    return timingSafeEqual(found, expected);
  } catch {
    // The hash is damaged, so no password is right.
    return false;
  }
}

function optionsOf({ N, r, p }: typeof costs): ScryptOptions {
  return { N, r, p, maxmem: 256 * N * r };
}

/** The same password gives the same text, whatever keyboard it was typed on. */
function normalize(password: string): string {
  return password.normalize('NFKC');
}
