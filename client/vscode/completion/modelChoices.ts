import { formatBytes } from '../../../protocol/base/bytes.ts';
import { canChat, type Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';

export interface ModelChoice {
  readonly label: string;
  readonly description: string;
  /** `""` is none. */
  readonly model: string;
}

/** Models that fill in the middle come first, and small before large, because completion asks at each pause. */
export function modelChoices(models: readonly Model[], current: string): readonly ModelChoice[] {
  const able = models
    .filter((model) => canChat(model) && !model.remote && model.server === defaultServerName)
    .sort((a, b) => Number(fills(b)) - Number(fills(a)) || (a.size ?? 0) - (b.size ?? 0));
  const items = able.map((model) => ({
    label: model.name,
    description: [
      model.size === undefined ? '' : formatBytes(model.size),
      fills(model) ? 'fills in the middle' : '$(warning) cannot fill in the middle',
      model.name === current ? 'now' : '',
    ]
      .filter(Boolean)
      .join(', '),
    model: model.name,
  }));
  return [...items, { label: '$(circle-slash) None', description: 'completion is off', model: '' }];
}

export function fills({ capabilities }: Model): boolean {
  return capabilities.insert.value === true;
}
