import type { SessionConfigOption, SessionConfigSelectOption } from '@agentclientprotocol/sdk';
import { formatBytes } from '../../protocol/base/bytes.ts';
import type { ChatParams } from '../../protocol/messages/chat.ts';
import type { CapabilityName, Model } from '../../protocol/messages/models.ts';
import { type Product, productNames } from '../../protocol/messages/status.ts';

/** The `configId` of each picker. */
export const modelPicker = 'model';
export const thinkingPicker = 'thinking';

/** What each choice of the thinking picker sends. `default` leaves the decision to the runner. */
const thinkingChoices = {
  default: { name: 'Default', think: undefined },
  off: { name: 'Off', think: false },
  on: { name: 'On', think: true },
  low: { name: 'Low', think: 'low' },
  medium: { name: 'Medium', think: 'medium' },
  high: { name: 'High', think: 'high' },
} as const satisfies Record<string, { name: string; think: ChatParams['think'] | undefined }>;

export type ThinkingChoice = keyof typeof thinkingChoices;

export function isThinkingChoice(value: unknown): value is ThinkingChoice {
  return typeof value === 'string' && Object.hasOwn(thinkingChoices, value);
}

/** The choice that sends this; `on` for a level that the picker does not have. */
export function choiceOfThink(think: NonNullable<ChatParams['think']>): ThinkingChoice {
  if (typeof think === 'boolean') return think ? 'on' : 'off';
  return isThinkingChoice(think) ? think : 'on';
}

/** What to send as `think`; nothing for a model without a thinking mode. */
export function thinkOf(choice: ThinkingChoice, model: Model | undefined): ChatParams['think'] | undefined {
  return model && !canThink(model) ? undefined : thinkingChoices[choice].think;
}

/** The pickers of a session; none while no model is known. If all models run elsewhere, none is chosen at first. */
export function pickersOf(
  models: readonly Model[],
  { model, thinking }: { readonly model: string | undefined; readonly thinking: ThinkingChoice },
  productOf: (model: Model) => Product | undefined = () => undefined,
): SessionConfigOption[] {
  const chosen = models.find(({ name }) => name === model);
  if (models.length === 0) return [];
  return [
    {
      id: modelPicker,
      name: 'Model',
      category: 'model',
      type: 'select',
      currentValue: chosen?.name ?? '',
      options: [...(chosen ? [] : [noChoice]), ...models.map((one) => choiceOf(one, productOf(one)))],
    },
    ...(chosen && canThink(chosen) ? [thinkingOption(thinking, chosen)] : []),
  ];
}

const noChoice: SessionConfigSelectOption = {
  value: '',
  name: 'None yet',
  description: 'All of them run elsewhere: choose the one to send to.',
};

function thinkingOption(currentValue: ThinkingChoice, { thinkingLevels }: Model): SessionConfigOption {
  return {
    id: thinkingPicker,
    name: 'Thinking',
    category: 'thought_level',
    type: 'select',
    description: 'How much the model thinks before it answers.',
    currentValue,
    // A level that was chosen before stays, and thinks as `On` does.
    options: Object.entries(thinkingChoices)
      .filter(
        ([value, { think }]) =>
          thinkingLevels !== false || typeof think !== 'string' || value === currentValue,
      )
      .map(([value, { name }]) => ({ value, name })),
  };
}

function choiceOf(model: Model, product: Product | undefined): SessionConfigSelectOption {
  const description = describe(model, product);
  return { value: model.name, name: model.name, ...(description === '' ? {} : { description }) };
}

/** A name that suggests thinking says how answers look, not what a request may ask for. */
function canThink({ capabilities: { thinking } }: Model): boolean {
  return thinking.value === true && thinking.from !== 'name';
}

const shownCapabilities: readonly CapabilityName[] = ['tools', 'vision', 'thinking'];

/**
 * Such as `5.2 GB, thinking, vision, a window of 32,768 tokens, LM Studio`. Ollama is what users expect, so it is not
 * named. The window that it has allocated is left out: it changes whenever a model is loaded, and every picker would
 * have to be sent again.
 */
function describe({ size, capabilities, context, remote }: Model, product: Product | undefined): string {
  // Only Ollama gives a model another window when it loads it.
  const fixed = product === undefined || product === 'ollama' ? undefined : context.allocated;
  const window = fixed ?? context.configured ?? context.maximum;
  const mark = context.from === 'assumed' || context.from === 'observed' ? ` (${context.from})` : '';
  return [
    ...(remote ? [`at ${remote.host}`] : size ? [formatBytes(size)] : []),
    ...shownCapabilities.flatMap((name) => {
      const { value, from } = capabilities[name];
      return value === true ? [from === 'configured' ? `${name} (configured)` : name] : [];
    }),
    ...(window === undefined ? [] : [`a window of ${window.toLocaleString('en')} tokens${mark}`]),
    ...(product === undefined || product === 'ollama' || product === 'other' ? [] : [productNames[product]]),
  ].join(', ');
}
