import { realpathSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { RenderAnswer, RenderMessage } from './renderer.ts';
import { type RenderedDocument, type RenderJob, UnrenderableError } from './renderJob.ts';

try {
  // Linux accounts for the processor time of each thread here; other systems do not have the file.
  parentPort?.postMessage({ account: realpathSync('/proc/thread-self/schedstat') } satisfies RenderMessage);
} catch {
  // Then the time of the whole process stands for it.
}

parentPort?.on('message', async (job: RenderJob) => {
  const answer = await answerTo(job);
  parentPort?.postMessage(answer, 'rendered' in answer ? [answer.rendered.bytes.buffer as ArrayBuffer] : []);
});

async function answerTo(job: RenderJob): Promise<RenderAnswer> {
  try {
    const { bytes, notes } = await render(job);
    // Only a buffer that owns its memory can be transferred, and a Buffer may belong to a pool.
    return { rendered: { bytes: new Uint8Array(bytes), notes } };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { failure: { name: error instanceof UnrenderableError ? 'UnrenderableError' : name, message } };
  }
}

/** A format is loaded when it is first needed. */
async function render(job: RenderJob): Promise<RenderedDocument> {
  switch (job.kind) {
    case 'epub':
      return (await import('./epub/epub.ts')).createEpub(job);
    case 'html':
      return (await import('./markdown/htmlFormat.ts')).createHtml(job);
    case 'markdown':
      return (await import('./markdown/markdownFormat.ts')).createMarkdown(job);
    case 'pictureList':
      return (await import('./markdown/shownParts.ts')).createPictureList(job);
    case 'picture':
      return (await import('./markdown/shownParts.ts')).createPicture(job);
    case 'parts':
      return (await import('./markdown/markdownFormat.ts')).createParts(job);
    case 'shownText':
      return (await import('./markdown/shownParts.ts')).createShownText(job);
    case 'pdf':
    case 'pdfBook':
      return (await import('./pdf/pdf.ts')).createPdf(job);
  }
}
