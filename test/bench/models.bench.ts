import { spawnSync } from 'node:child_process';
import { createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { readModelfile, toParseResult } from '../../daemon/modelfile/modelfile.ts';
import { createModelRequest, listModelsRequest } from '../../protocol/messages/models.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemonProcess.ts';
import { createFigures, median, residentOf, timed } from './figures.ts';
import { forkServer, serveParent } from './wires.ts';

const { section, row } = createFigures('models');
const megabyte = 1024 * 1024;
const gigabyte = 1024 * megabyte;
const self = fileURLToPath(import.meta.url);
if (process.argv[2] === 'serve') serve();
else await main();

async function main(): Promise<void> {
  section('Model management (medians)');
  parse();
  const { server, url } = await forkServer(self);
  const daemon = await startDaemonProcess({ host: url });
  const agent = new Agent({ bodyTimeout: 0, headersTimeout: 0 });
  const folder = mkdtempSync(join(tmpdir(), 'runner-bench-'));
  try {
    await list(daemon, agent, url);
    await upload(daemon, { agent, url, folder });
  } finally {
    await daemon.close();
    await agent.close();
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Against splitting the same text into lines: what any reader has to do at least. */
function parse(): void {
  const shapes: readonly (readonly [string, string])[] = [
    ['commands', 'PARAMETER stop "<|end|>"\nMESSAGE user How are you today?\n'],
    ['one long value', 'a line of a system prompt that says nothing much\n'],
    ['mistakes', 'PARAMETR temperature 0.7\n'],
    ['quotes that never close', 'SYSTEM "a" b\n'],
  ];
  for (const [name, line] of shapes) {
    const head = name === 'one long value' ? 'FROM a\nSYSTEM """' : 'FROM a\n';
    const textOf = (bytes: number) => head + line.repeat(Math.ceil(bytes / line.length));
    const [one, two] = [textOf(megabyte), textOf(2 * megabyte)];
    const whole = medianOf(9, () => void toParseResult(readModelfile(one)));
    const double = medianOf(9, () => void toParseResult(readModelfile(two)));
    const lines = medianOf(9, () => void one.split('\n').map((text) => text.trim()));
    row(
      `a Modelfile of 1 MB: ${name}`,
      `${whole.toFixed(1)} ms (splitting into lines: ${lines.toFixed(1)} ms); twice as long: ${(double / whole).toFixed(2)} times`,
      {
        goal: 'within 150 ms, linear',
        plot: { unit: 'ms', bars: { 'splitting into lines': lines, 'the whole reader': whole } },
      },
    );
  }
}

async function list(daemon: DaemonProcess, agent: Agent, url: string): Promise<void> {
  const bare = async () => {
    for (const path of ['/api/tags', '/api/ps']) {
      const { body } = await agent.request({ origin: url, path, method: 'GET' });
      await body.json();
    }
  };
  const ours = async () => {
    const { models } = await daemon.request(listModelsRequest, { refresh: true });
    if (models.length !== 1_000) throw new Error('The list is not whole.');
  };
  const [direct, through]: [number[], number[]] = [[], []];
  for (let run = 0; run < 21; run++) {
    direct.push(await timed(bare));
    through.push(await timed(ours));
  }
  row(
    'a list of 1,000 models',
    `${(median(through) / median(direct)).toFixed(2)} times the bare HTTP calls and JSON (${median(direct).toFixed(1)} -> ${median(through).toFixed(1)} ms)`,
    {
      goal: 'at most 5 times',
      plot: {
        unit: 'ms',
        bars: { 'bare HTTP calls and JSON': median(direct), 'the daemon': median(through) },
      },
    },
  );
}

interface UploadBench {
  readonly agent: Agent;
  readonly url: string;
  readonly folder: string;
}

/** A file of a gigabyte, hashed and sent, against `sha256sum` of it and a bare upload one after the other. */
async function upload(daemon: DaemonProcess, { agent, url, folder }: UploadBench): Promise<void> {
  const path = join(folder, 'weights.gguf');
  writeWeights(path);
  const ratios: number[] = [];
  const memory: number[] = [];
  for (let run = 0; run < 3; run++) {
    const sum = await timed(async () => void spawnSync('sha256sum', [path]));
    const bare = await timed(async () => {
      const { body } = await agent.request({
        origin: url,
        path: '/api/blobs/sha256:bare',
        method: 'POST',
        headers: { 'content-length': String(gigabyte) },
        body: createReadStream(path, { highWaterMark: 512 * 1024 }),
      });
      await body.dump();
    });
    const watch = setInterval(() => memory.push(residentOf(daemon)), 50);
    const ours = await timed(
      async () => void (await daemon.request(createModelRequest, { model: 'm', text: `FROM ${path}` })),
    );
    clearInterval(watch);
    ratios.push(ours / (sum + bare));
    if (run === 0)
      row(
        'one of three rounds',
        `sha256sum ${seconds(sum)}, bare upload ${seconds(bare)}, both by the daemon ${seconds(ours)}`,
      );
  }
  row('a file of 1 GB, hashed and sent', `${median(ratios).toFixed(2)} times sha256sum and a bare upload`, {
    goal: 'at most 1.3 times',
  });
  const [first = 0] = memory;
  row(
    'memory meanwhile',
    `${first} MB at the start, ${Math.max(...memory)} MB at most, over three times 1 GB`,
    { goal: 'flat' },
  );
}

function writeWeights(path: string): void {
  const file = openSync(path, 'w');
  const piece = Buffer.alloc(16 * megabyte);
  for (let index = 0; index < 64; index++) {
    piece.writeUInt32LE(index, 0);
    writeSync(file, piece);
  }
}

function medianOf(runs: number, work: () => void): number {
  const times = Array.from({ length: runs }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return median(times);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/** A runner in a process of its own, with a thousand models, that takes bytes as fast as they come. */
function serve(): void {
  const models = Array.from({ length: 1_000 }, (_, index) => ({
    name: `model-${index}:8b`,
    model: `model-${index}:8b`,
    modified_at: '2026-11-18T09:12:44.518203377+01:00',
    size: 4_929_912_432,
    digest: String(index).padStart(64, '0'),
    details: {
      format: 'gguf',
      family: 'qwen2',
      families: ['qwen2'],
      parameter_size: '8B',
      quantization_level: 'Q4_K_M',
      context_length: 32_768,
    },
    capabilities: ['completion', 'tools', 'insert'],
  }));
  const answers: Readonly<Record<string, string>> = {
    '/api/tags': JSON.stringify({ models }),
    '/api/ps': '{"models":[]}',
    '/api/version': '{"version":"bench"}',
    '/api/create': '{"status":"success"}\n',
  };
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'HEAD') {
      response.writeHead(404).end();
      return;
    }
    request.on('end', () => response.end(answers[request.url ?? ''] ?? ''));
  });
  serveParent(server);
}
