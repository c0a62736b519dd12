import { readFileSync } from 'node:fs';
import { promptStrategies } from '../../daemon/completion/fillInTheMiddle.ts';
import { completionBody, infillBody } from '../../daemon/runner/openai/requests.ts';
import { listModelsRequest } from '../../protocol/messages/models.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemonProcess.ts';
import { createFigures, median } from './figures.ts';

/**
 * A real llama-server, whose model fills gaps and is named after a family with tokens for that, such as `codellama`.
 */
const host = process.env['RUNNER_TEST_LLAMA'];
const { section, row } = createFigures('llama');
const ask = { messages: [{ role: 'user', content: 'Tell a long story about a river.' }] } as const;

section('A real llama-server');
if (host === undefined) row('everything', 'left out: RUNNER_TEST_LLAMA names no server');
else await measure(host);

async function measure(url: string): Promise<void> {
  const daemon = await startDaemonProcess({ host: url });
  try {
    const { models } = await daemon.request(listModelsRequest, {});
    const model = models[0]?.name ?? '';
    await firstToken(daemon, url, model);
    await cancel(daemon, url, model);
    await orders(url, model);
  } finally {
    await daemon.close();
  }
}

async function firstToken(daemon: DaemonProcess, url: string, model: string): Promise<void> {
  const [direct, through]: [number[], number[]] = [[], []];
  for (let run = 0; run < 15; run++) {
    const start = performance.now();
    const body = JSON.stringify({ model, ...ask, stream: true, max_tokens: 2 });
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
    let first = 0;
    for await (const chunk of response.body ?? [])
      if (/"content":"/.test(Buffer.from(chunk).toString())) first ||= performance.now() - start;
    direct.push(first);
    const begun = performance.now();
    let seen = 0;
    const onDelta = () => {
      seen ||= performance.now() - begun;
    };
    await daemon.chat({ model, ...ask, options: { num_predict: 2 } }, { onDelta });
    through.push(seen);
  }
  row(
    'first token of a prompt that it has read',
    `${median(direct).toFixed(1)} ms read directly, ${median(through).toFixed(1)} ms through the daemon`,
    { goal: 'at most 5 ms more' },
  );
}

/** To the free slot, as the server says. */
async function cancel(daemon: DaemonProcess, url: string, model: string): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < 10; run++) {
    let cancelled = 0;
    const cancelAt = () => {
      cancelled ||= performance.now();
      return true;
    };
    await daemon.chat({ model, ...ask, options: { ignore_eos: true } }, { cancelAt });
    while (await isBusy(url)) await new Promise((resolve) => setTimeout(resolve, 5));
    times.push(performance.now() - cancelled);
  }
  row('cancel to the free slot', `${median(times).toFixed(0)} ms`, {
    goal: 'at most 190 ms, as without the daemon',
  });
}

async function isBusy(url: string): Promise<boolean> {
  const slots = (await (await fetch(`${url}/slots`)).json()) as { is_processing: boolean }[];
  return slots.some((slot) => slot.is_processing);
}

/** What the server evaluates anew at each key, by the way in which it is asked. */
async function orders(url: string, model: string): Promise<void> {
  const source = readFileSync(new URL(import.meta.url), 'utf8').slice(0, 6_000);
  const at = source.lastIndexOf('\n', 3_000);
  const around = { prefix: source.slice(0, at), suffix: source.slice(at, at + 1_500) };
  const figures: string[] = [];
  for (const strategy of promptStrategies(model, true)) {
    const evaluated: number[] = [];
    for (let keys = 0; keys <= 8; keys++) {
      const text = strategy.textOf(`${around.prefix}${'let total'.slice(0, keys)}`, around.suffix);
      const request = { model, text, stops: strategy.stops, maxTokens: 1, temperature: 0 };
      const [path, body] =
        'prompt' in text
          ? ['/v1/completions', completionBody(request, text.prompt)]
          : ['/infill', infillBody(request, text)];
      const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
      const said = (await response.json()) as { timings?: { prompt_n?: number } };
      // The first one evaluates all of it in any order.
      if (keys > 0) evaluated.push(said.timings?.prompt_n ?? Number.NaN);
    }
    const order = strategy.isSuffixFirst ? 'suffix first' : 'prefix first';
    figures.push(`${strategy.name === 'raw' ? `by hand, ${order}` : '/infill'}: ${median(evaluated)}`);
  }
  row('tokens evaluated at a key', figures.join('; '), { goal: 'the first of them is used' });
}
