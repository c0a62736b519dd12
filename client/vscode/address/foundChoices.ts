import { count } from '../../../protocol/base/text.ts';
import { type FoundRunner, productNames } from '../../../protocol/messages/status.ts';

/** An entry of the list of runners on this machine. */
interface RunnerChoice {
  readonly label: string;
  readonly description: string;
  readonly runner: FoundRunner;
}

export function foundChoices(runners: readonly FoundRunner[]): readonly RunnerChoice[] {
  return runners.map((runner) => {
    const { product, url, models } = runner;
    const has = models === undefined ? 'wants a token' : count(models, 'model');
    const label = product === 'other' ? 'A runner' : productNames[product];
    return { label, description: `${url} · ${has}`, runner };
  });
}
