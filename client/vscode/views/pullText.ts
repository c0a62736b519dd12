import { defaultServerName } from '../../../protocol/messages/initialize.ts';
import type { RunningPull } from '../models/runningPulls.ts';
import { toRowName } from './rowName.ts';

export interface PullText {
  readonly description: string;
  readonly tooltip: string;
  /** For a screen reader. */
  readonly label: string;
}

/** What the row of a model says while the model is pulled. */
export function describePull({
  model,
  server,
  percentage,
  message,
}: Pick<RunningPull, 'model' | 'server' | 'percentage' | 'message'>): PullText {
  const share = percentage === undefined ? '' : `${percentage} %`;
  const where = server === defaultServerName ? '' : (server ?? '');
  return {
    description: [share || 'pulling', where, toRowName(model).path].filter(Boolean).join(' · '),
    tooltip: message === '' ? `Pulling ${model}` : `${model}: ${message}`,
    label: [`${model} is being pulled`, share && `${percentage} percent`].filter(Boolean).join(', '),
  };
}
