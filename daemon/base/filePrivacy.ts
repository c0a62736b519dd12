import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createExcludes, createRunnerIgnore, type Excludes } from './pathRules.ts';

/** Why the text of a file goes nowhere unless the user names the file. */
export type Privacy = 'secret' | 'excluded';

/** Whether the file at a path, or the one that it links to, is private. The path need not be absolute. */
export type FindPrivacy = (path: string) => Promise<Privacy | undefined>;

/** In characters. No system opens files with a longer path. The limit also bounds the work of the globs. */
export const maxPath = 4_096;

/** `exclude` returns the globs in the current configuration. A `.runnerignore` counts as they do. */
export function createFindPrivacy(exclude: () => readonly string[], now = Date.now): FindPrivacy {
  const isHidden = createRunnerIgnore(now);
  let compiled: { readonly globs: readonly string[]; readonly excludes: Excludes } | undefined;
  const excludes = (path: string) => {
    const globs = exclude();
    if (compiled?.globs !== globs) compiled = { globs, excludes: createExcludes(globs) };
    return compiled.excludes(path);
  };
  return async (path) => {
    if (path.length > maxPath) return 'secret';
    // A link leads to a file with another name. A document that is not on the disk has only its own name.
    const paths = isAbsolute(path) ? [path, await realpath(path).catch(() => path)] : [path];
    if (looksSecret(...paths)) return 'secret';
    if (paths.some(excludes)) return 'excluded';
    for (const own of paths) if (isAbsolute(own) && (await isHidden(own))) return 'excluded';
    return undefined;
  };
}

/**
 * The path in an address of any scheme; undefined if it is no address. A cell of a notebook has the notebook's path.
 */
export function tryPathOf(uri: string): string | undefined {
  const rest = /^[a-z][a-z0-9+.-]*:([^?#]*)/i.exec(uri)?.[1];
  if (rest === undefined) return undefined;
  try {
    if (rest.startsWith('//')) return fileURLToPath(`file:${rest}`);
  } catch {
    // It is not a path of this system, but its names count all the same.
  }
  return decoded(rest.replace(/^\/\/[^/]*/, ''));
}

/** A part of an address without its escapes, or unchanged if the escapes are broken. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * The files that docs/PROTOCOL.md lists as secrets, by the end of their path, in upper or lower case. A path that ends
 * with a slash stands for everything in such a folder. The sources: the default ignore list of Continue
 * (`core/indexing/ignore.ts`), the signatures of gitrob, GitHub's templates of `.gitignore`, and the manual of the
 * program whose file it is. Where Continue leaves out sources too (`config.json`, `settings.json`), we do not.
 */
export const secretPaths: readonly string[] = [
  // Continue, and every template of GitHub's: variables of the environment.
  ...['.env*', '*.env'],
  // Continue, GitHub's "Global/…" templates: keys and stores of keys.
  ...['*.pem', '*.key', '*.p8', '*.p12', '*.pfx', '*.ppk', '*.jks', '*.keystore', '*.truststore', '*.gpg'],
  ...['id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', '*private*.asc', '*secret*.asc'],
  // gitrob: stores of passwords.
  ...['*.kdb', '*.kdbx', '*.agilekeychain', '*.keychain', '*.psafe3', '*.ovpn'],
  // Continue: words for it.
  ...[
    'credentials*',
    '*credential*.json',
    'secret.json',
    'secret.yaml',
    'secret.yml',
    'secret.toml',
    'secret.txt',
    'secrets.*',
    '*.secret',
    '*.secrets',
  ],
  ...[
    '*.token',
    'token',
    'token.txt',
    'token.json',
    'tokens.txt',
    'tokens.json',
    'password.txt',
    'passwords.txt',
  ],
  ...[
    'auth.json',
    'client_secret*.json',
    '*service-account*.json',
    '*service_account*.json',
    '*serviceaccount*.json',
  ],
  // gitrob, and the manuals of git, npm, Yarn, pip, curl, PostgreSQL, MySQL, Docker, Apache, s3cmd, Vault and rclone.
  ...['.git-credentials', '.npmrc', '.yarnrc.yml', '.pypirc', '.netrc', '_netrc', '.pgpass', 'pgpass.conf'],
  ...['.my.cnf', '.mylogin.cnf', '.dockercfg', '.docker/config.json', '.htpasswd', '.s3cfg', '.boto'],
  ...['.vault-token', 'rclone.conf', '.gem/credentials', '.cargo/credentials*'],
  // GitHub's template "Terraform", the manuals of Kubernetes and of WordPress.
  ...['*.tfstate', '*.tfstate.*', '*.tfvars', '*.tfvars.json'],
  ...['kubeconfig*', '*.kubeconfig', '.kube/config*', 'wp-config.php'],
  // Continue, and the manuals of these programs: whole folders.
  ...['.ssh/', '.aws/', '.azure/', '.gcp/', '.gnupg/', '.gpg/', '.secrets/', '.password-store/'],
  ...['.config/gcloud/', '.config/gh/'],
];

const secret = new RegExp(`(?:^|/)(?:${secretPaths.map(sourceOf).join('|')})`, 'i');

function sourceOf(path: string): string {
  const source = path.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
  return path.endsWith('/') ? source : `${source}$`;
}

/**
 * Whether a file looks like a secret, which is never sent anywhere. Callers pass its own path and that of the file that
 * it links to.
 */
export function looksSecret(...paths: readonly string[]): boolean {
  return paths.some((path) => secret.test(path.replaceAll('\\', '/')));
}
