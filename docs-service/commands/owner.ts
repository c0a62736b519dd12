import { withoutUndefined } from '../../protocol/base/json.ts';
import { parseProfileUrl } from '../auth/identifiers.ts';
import type { Profile } from '../auth/ownerStore.ts';
import { checkPassword, hashPassword } from '../auth/passwords.ts';
import { UsageError } from '../base/options.ts';
import { defineCommand } from '../cli/command.ts';
import { parseStorePlaces, storeOptions } from '../serveConfig.ts';
import { withAccess } from '../stores.ts';

export const ownerSetPasswordCommand = defineCommand({
  usage: 'owner set-password',
  summary:
    'Reads one line from standard input: the password for the pages and for allowing apps. It ends all sessions.',
  words: 0,
  options: {
    ...storeOptions,
    me: { value: 'URL', help: "the owner's own page (default: the address of the service)" },
  },
  async run({ values }, context) {
    const { data, database } = parseStorePlaces(values, context.env);
    const me = values.me === undefined ? {} : { me: parseProfileUrl('me', values.me) };
    // Some editors and shells put a byte order mark first.
    const password = (await context.readLine('Password (at least 12 characters): '))?.replace(/^\ufeff/, '');
    if (password === undefined || password === '')
      throw new UsageError('the password is read from standard input, which was empty.');
    checkPassword(password);
    const hash = await hashPassword(password);
    await withAccess(values, context, ({ owners }) => owners.setPassword({ password: hash, ...me }));
    const place = database === undefined ? data : 'the database';
    context.note(
      `The password is set in ${place}. Browsers and apps that were signed in must sign in again.\n`,
    );
    return 0;
  },
});

export const ownerSetProfileCommand = defineCommand({
  usage: 'owner set-profile',
  summary: 'Sets what clients with the scope profile learn about the owner. What you leave out is removed.',
  words: 0,
  options: {
    ...storeOptions,
    name: { value: 'NAME', help: "the owner's name" },
    url: { value: 'URL', help: "the owner's home page (default: the address of the owner)" },
    photo: { value: 'URL', help: 'the address of a picture' },
    email: { value: 'ADDRESS', help: 'for clients with the scope email as well' },
  },
  async run({ values }, context) {
    const { name, url, photo, email } = values;
    const profile = withoutUndefined<Profile>({
      name: name?.slice(0, 200),
      url: url === undefined ? undefined : parsePage('url', url),
      photo: photo === undefined ? undefined : parsePage('photo', photo),
      email: email === undefined ? undefined : parseEmail(email),
    });
    await withAccess(values, context, ({ owners }) => owners.setProfile(profile));
    context.note('The profile is set.\n');
    return 0;
  },
});

function parsePage(flag: string, text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return new URL(text).href;
  throw new UsageError(`--${flag} must be an address such as https://example.org/, not "${text}".`);
}

function parseEmail(text: string): string {
  if (/^[^\s@]{1,64}@[^\s@]{1,250}$/.test(text)) return text;
  throw new UsageError(`--email must be an address such as me@example.org, not "${text}".`);
}
