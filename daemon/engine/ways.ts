import { formatBytes } from '../../protocol/base/bytes.ts';
import {
  describeFetch,
  type EngineFetch,
  type EngineModel,
  type EngineOffers,
  type EngineWay,
  engineNames,
  sampleWarning,
} from '../../protocol/messages/engine.ts';

/** What there is on this machine, and what could be fetched. */
export interface WhatThereIs extends Omit<EngineOffers, 'ways'> {
  readonly models: readonly EngineModel[];
  /** Where the sample is, or will be. */
  readonly samplePath: string;
}

/** The ways from here to a model that answers, the most capable one first. */
export function waysTo(found: WhatThereIs): readonly EngineWay[] {
  const fitting = found.models.filter(({ fits }) => fits);
  return [...programWays(found, fitting), ...engineWays(found, fitting)];
}

function programWays({ programs }: WhatThereIs, fitting: readonly EngineModel[]): readonly EngineWay[] {
  const model = fitting.find(({ source }) => source !== 'sample');
  return programs.flatMap(({ product, version }): readonly EngineWay[] => {
    const what = `start ${engineNames[product]} ${version}, which is installed`;
    if (product === 'ollama') return [{ label: what, fetches: [], start: { product } }];
    if (!model) return [];
    const label = `${what}, with ${model.name} (${formatBytes(model.size)})`;
    return [{ label, fetches: [], start: { product, model: model.path } }];
  });
}

/** The engine with the small model, or with another where that cannot be fetched. */
function engineWays(found: WhatThereIs, fitting: readonly EngineModel[]): readonly EngineWay[] {
  const { library, sample, samplePath } = found;
  if (library.problem !== undefined) return [];
  const product = 'runner-engine';
  if (sample.problem === undefined) {
    const fetches = [...fetchOf('library', library), ...fetchOf('sample', sample)];
    const label = `a small real model here, now (${sizeOf(fetches)})`;
    return [{ label, fetches, warning: sampleWarning, start: { product, model: samplePath } }];
  }
  const [model] = fitting;
  if (!model) return [];
  const fetches = fetchOf('library', library);
  const label = `start ${model.name} here, with an engine of Runner's own (${sizeOf(fetches)})`;
  return [{ label, fetches, start: { product, model: model.path } }];
}

function fetchOf(what: EngineFetch['what'], fetchable: EngineOffers['library']): readonly EngineFetch[] {
  if (fetchable.isThere) return [];
  return [{ what, bytes: fetchable.bytes, description: describeFetch(fetchable) }];
}

function sizeOf(fetches: readonly EngineFetch[]): string {
  return fetches.length === 0 ? 'installed' : formatBytes(fetches.reduce((sum, { bytes }) => sum + bytes, 0));
}
