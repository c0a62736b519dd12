import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './temporaryFolder.ts';

export interface Certificate {
  readonly key: string;
  /** PEM; it signs itself, so who trusts it trusts this server. */
  readonly cert: string;
}

/** A certificate for these names, made by openssl. */
export async function createCertificate(
  t: { teardown(work: () => unknown): void },
  names: readonly string[],
): Promise<Certificate> {
  const folder = await temporaryFolder(t);
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = [
    '-subj',
    `/CN=${names[0]}`,
    '-addext',
    `subjectAltName=${names.map((name) => `DNS:${name}`)}`,
  ];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') };
}
