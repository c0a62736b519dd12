import { existsSync } from 'node:fs';
import { type NativeLibrary, openLibrary, startLlama } from '../../daemon/engine/process/library.ts';
import { type EngineProcess, sampleModel, startEngine } from '../support/engineProcess.ts';
import { places } from '../support/parts.ts';
import { createFigures, median } from './figures.ts';

/** The engine with the small real model, and its library called bare. */
const { section, row } = createFigures('engine');
const story = [{ role: 'user', content: 'Tell a long story about a river.' }];
/** Tokens of an answer whose rate is measured. */
const answerTokens = 120;
const window = 2_048;

section('The engine, with SmolLM2-135M');
if (existsSync(sampleModel)) await measure();
else row('everything', 'left out: .ci/engine.sh installs the library and the model');

async function measure(): Promise<void> {
  const engine = startEngine({ context: window });
  try {
    await engine.next('ready');
    await rates(engine);
    await stops(engine);
  } finally {
    await engine.close();
  }
}

/** In turns, since other work on the machine changes both. The time of the processor does not depend on it. */
async function rates(engine: EngineProcess): Promise<void> {
  const bare = await openBare(await openLibrary(places.engine));
  const [ours, theirs]: [Rate[], Rate[]] = [[], []];
  const body = { messages: story, max_tokens: answerTokens, temperature: 0, ignore_eos: true };
  for (let run = 0; run < 7; run++) {
    theirs.push(await bare());
    const before = engine.processorTime() ?? Number.NaN;
    const rate = await rateOf(engine, body);
    const used = (engine.processorTime() ?? Number.NaN) - before;
    ours.push({ perSecond: rate, processor: used / answerTokens });
  }
  const [own, other] = [ours, theirs].map((rates) => ({
    perSecond: median(rates.map(({ perSecond }) => perSecond)),
    processor: median(rates.map(({ processor }) => processor)),
  }));
  if (!own || !other) return;
  const share = (one: number, of: number) => (one / of).toFixed(2);
  row(
    'tokens a second',
    `${own.perSecond.toFixed(1)}, the library called bare ${other.perSecond.toFixed(1)}: ${share(own.perSecond, other.perSecond)} of it`,
    {
      goal: 'at least 0.95 on a quiet machine',
      plot: { unit: 'tokens a second', bars: { bare: other.perSecond, engine: own.perSecond } },
    },
  );
  row(
    'processor time of a token',
    `${own.processor.toFixed(1)} ms, of the library called bare ${other.processor.toFixed(1)} ms: ${share(other.processor, own.processor)} of its speed`,
    { goal: 'at least 0.95' },
  );
}

interface Rate {
  readonly perSecond: number;
  /** Of one token, in ms, its share of the prompt included. */
  readonly processor: number;
}

/** Measures the same answer in this process. */
async function openBare(library: NativeLibrary): Promise<() => Promise<Rate>> {
  const llama = await startLlama(library, () => undefined);
  const model = await llama.loadModel({
    modelPath: sampleModel,
    gpuLayers: 0,
    onLoadProgress: () => undefined,
  });
  const threads = Math.max(1, llama.cpuMathCores - 1);
  const context = await model.createContext({ contextSize: { max: window }, batchSize: 128, threads });
  const sequence = context.getSequence({
    contextShift: {
      strategy() {
        throw new Error('The window is full.');
      },
    },
  });
  const prompt = model.tokenize(
    `<|im_start|>user\n${story[0]?.content}<|im_end|>\n<|im_start|>assistant\n`,
    true,
  );
  return async () => {
    // As for the engine, only the last token of the prompt is read again.
    await sequence.adaptStateToTokens(prompt.slice(0, -1), false);
    const before = process.cpuUsage();
    let tokens = 0;
    let begun = 0;
    for await (const _ of sequence.evaluate(prompt.slice(sequence.nextTokenIndex), {
      temperature: 0,
      minP: 0.05,
      yieldEogToken: true,
    })) {
      begun ||= performance.now();
      tokens += 1;
      if (tokens === answerTokens) break;
    }
    const perSecond = ((tokens - 1) / (performance.now() - begun)) * 1_000;
    const { user, system } = process.cpuUsage(before);
    return { perSecond, processor: (user + system) / 1_000 / answerTokens };
  };
}

async function stops(engine: EngineProcess): Promise<void> {
  const isBusy = async () => (await engine.json('/slots')).value[0].is_processing as boolean;
  const bodies = {
    'stop while it writes, to free': { messages: story, ignore_eos: true },
    'stop while it reads, to free': { messages: [{ role: 'user', content: 'word '.repeat(1_900) }] },
  };
  for (const [name, body] of Object.entries(bodies)) {
    const times: number[] = [];
    for (let run = 0; run < 7; run++) {
      const leaving = new AbortController();
      const { signal } = leaving;
      // Each prompt is another one, so that nothing of it has been read.
      const asked = {
        ...body,
        messages: [{ role: 'system', content: `${run}` }, ...body.messages],
        stream: true,
      };
      const response = await engine.fetch('/v1/chat/completions', asked, { signal });
      const reader = response.body?.getReader();
      // The first event comes before the prompt is read.
      for (let events = 0; events < ('ignore_eos' in body ? 3 : 1); events++) await reader?.read();
      const begun = performance.now();
      leaving.abort();
      while (await isBusy()) await new Promise((resolve) => setTimeout(resolve, 2));
      times.push(performance.now() - begun);
    }
    row(name, `${median(times).toFixed(0)} ms`, { goal: 'a batch of 128 tokens at most' });
  }
}

/** Tokens a second of an answer, from the first one on. */
async function rateOf(engine: EngineProcess, body: object): Promise<number> {
  const asked = { ...body, stream: true, stream_options: { include_usage: true } };
  const response = await engine.fetch('/v1/chat/completions', asked);
  let [first, last, tokens, rest] = [0, 0, 0, ''];
  for await (const chunk of response.body ?? []) {
    const events = `${rest}${Buffer.from(chunk)}`.split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      if (event === 'data: [DONE]') continue;
      const { choices, usage } = JSON.parse(event.slice('data: '.length));
      const piece = choices[0]?.delta.content ?? '';
      if (piece === '') tokens = usage?.completion_tokens ?? tokens;
      else {
        last = performance.now();
        first ||= last;
      }
    }
  }
  return ((tokens - 1) / (last - first)) * 1_000;
}
