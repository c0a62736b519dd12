import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inflateSync } from 'node:zlib';
import type { Document } from '../../docs-service/content/document.ts';
import type { PdfJob } from '../../docs-service/formats/renderJob.ts';

export const ownFonts = resolve('dist/docs-service/fonts');

export function pdfJob(body: string, document: Partial<Document> = {}, job: Partial<PdfJob> = {}): PdfJob {
  return {
    kind: 'pdf',
    paper: 'a4',
    contentFolder: resolve('docs'),
    targets: {},
    fonts: [ownFonts],
    document: {
      slug: 'guide',
      path: 'guide.md',
      title: 'Guide',
      type: null,
      tags: [],
      date: '2026-03-09',
      updated: null,
      lang: 'en',
      authors: [],
      description: null,
      cover: null,
      draft: false,
      contentHash: '',
      body,
      ...document,
    },
    ...job,
  };
}

/** What is drawn on the pages, in the language of PDF. */
export function drawn(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('latin1');
  const streams = text.matchAll(/\/FlateDecode\n>>\nstream\n(.*?)\nendstream/gs);
  return Array.from(streams, ([, stream = '']) =>
    inflateSync(Buffer.from(stream, 'latin1')).toString('latin1'),
  ).join('\n');
}

type Poppler = 'pdftotext' | 'pdfinfo' | 'pdffonts' | 'pdfimages' | 'pdftohtml';

/** What one of Debian's poppler-utils says of a PDF. It fails where the PDF is damaged. */
export function poppler(tool: Poppler, bytes: Uint8Array, options: readonly string[] = []): string {
  const folder = mkdtempSync(join(tmpdir(), 'runner-pdf-'));
  try {
    const file = join(folder, 'a.pdf');
    writeFileSync(file, bytes);
    const order =
      tool === 'pdftohtml' ? ['-xml', '-i', '-stdout', file] : tool === 'pdftotext' ? [file, '-'] : [file];
    return execFileSync(tool, [...options, ...order], { encoding: 'utf8', cwd: folder, stdio: 'pipe' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function textOf(bytes: Uint8Array): string {
  return poppler('pdftotext', bytes, ['-layout']);
}

export function pagesOf(bytes: Uint8Array): number {
  return Number(/Pages:\s+(\d+)/.exec(poppler('pdfinfo', bytes))?.[1]);
}
