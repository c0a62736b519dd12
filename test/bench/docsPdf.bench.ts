import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { RenderMessage } from '../../docs-service/formats/renderer.ts';
import type { PdfJob } from '../../docs-service/formats/renderJob.ts';
import { pagesOf, pdfJob } from '../support/pdfFiles.ts';
import { createFigures, median } from './figures.ts';

const { section, row } = createFigures('docsPdf');

/** PDF pages a second through the bundle of the worker, with the fonts loaded and the code warm. */
const sentence = 'The service renders documents for readers who want to keep what they have read. ';

const documents: Readonly<Record<string, string>> = {
  'a short document': chapters(2),
  'a document of 100 chapters': chapters(100),
  'a table of 5,000 rows': `| a | b | c |\n|---|---|---|\n${`| row | ${sentence} | \`code\` |\n`.repeat(5000)}`,
};

async function main(): Promise<void> {
  section('PDF (medians of 5; of 3 for long documents)');
  const worker = new Worker(resolve('dist/docs-service/renderWorker.cjs'));
  const first = performance.now();
  await render(worker, pdfJob('First.'));
  row('the first document of a worker', `${Math.round(performance.now() - first)} ms`);
  for (const [name, body] of Object.entries(documents)) {
    const runs = body.length > 20_000 ? 3 : 5;
    const [times, stalls]: [number[], number[]] = [[], []];
    let pages = 0;
    for (let run = 0; run < runs; run++) {
      const { time, stall, bytes } = await timed(worker, pdfJob(body));
      times.push(time);
      stalls.push(stall);
      pages ||= pagesOf(bytes);
    }
    const time = median(times);
    row(
      name,
      `${pages} pages in ${Math.round(time)} ms, ${Math.round(pages / (time / 1000))} pages a second; longest stall outside of the worker ${Math.round(Math.max(...stalls))} ms`,
      {
        goal: 'at least 30 a second; at most 50 ms',
        plot: { unit: 'pages a second', bars: { goal: 30, [name]: pages / (time / 1000) } },
      },
    );
  }
  await worker.terminate();
}

function chapters(count: number): string {
  return Array.from(
    { length: count },
    (_, n) =>
      `## Chapter ${n}\n\n${sentence.repeat(6)}**Bold** and \`code\`, [a link](#chapter-1).\n\n- ${sentence}\n- ${sentence}\n\n### Part ${n}\n\n${sentence.repeat(5)}\n\n\`\`\`js\nfunction f(x) {\n  return x + 1;\n}\n\`\`\`\n\n| a | b |\n|---|---|\n| ${sentence} | \`1\` |\n| ${sentence} | \`2\` |\n`,
  ).join('\n');
}

/** A timer that should come every 5 ms tells how long nothing else could run. */
async function timed(worker: Worker, job: PdfJob) {
  let [stall, last] = [0, performance.now()];
  const ticks = setInterval(() => {
    stall = Math.max(stall, performance.now() - last - 5);
    last = performance.now();
  }, 5);
  const start = performance.now();
  const bytes = await render(worker, job);
  clearInterval(ticks);
  return { time: performance.now() - start, stall, bytes };
}

function render(worker: Worker, job: PdfJob): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    worker.on('message', (answer: RenderMessage) => {
      if ('account' in answer) return;
      worker.removeAllListeners('message');
      if ('rendered' in answer) resolve(answer.rendered.bytes);
      else reject(new Error(answer.failure.message));
    });
    worker.postMessage(job);
  });
}

await main();
