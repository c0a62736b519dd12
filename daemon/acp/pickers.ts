import type {
  SessionConfigOption,
  SessionConfigSelectOption,
  SessionModeState,
} from '@agentclientprotocol/sdk';
import { formatBytes } from '../../protocol/base/text.ts';
import { type AgentMode, agentModes, type ChatParams } from '../../protocol/messages/chat.ts';
import type { CapabilityName, Model } from '../../protocol/messages/models.ts';
import { type Product, productNames } from '../../protocol/messages/status.ts';

/** The `configId` of each picker. */
export const modelPicker = 'model';
export const thinkingPicker = 'thinking';
export const modePicker = 'mode';

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

const descriptions: Readonly<Record<AgentMode, { readonly name: string; readonly description: string }>> = {
  read: { name: 'Read', description: 'Reads files, and changes nothing' },
  ask: { name: 'Ask', description: 'You are asked before each edit and each check' },
  edit: { name: 'Edit', description: 'Edits without a question; you are asked before each check' },
  auto: { name: 'Auto', description: 'Reads, edits and runs checks without a question' },
};

/** The mode is undefined if the built-in tools are off. */
interface WithMode {
  readonly mode: AgentMode | undefined;
}

/** Modes as older editors know them. */
export function modesOf({ mode }: WithMode): SessionModeState | undefined {
  if (mode === undefined) return undefined;
  return { currentModeId: mode, availableModes: agentModes.map((id) => ({ id, ...descriptions[id] })) };
}

export function modeOption({ mode }: WithMode): readonly SessionConfigOption[] {
  if (mode === undefined) return [];
  const options = agentModes.map((value) => ({ value, ...descriptions[value] }));
  return [
    {
      ...{ id: modePicker, name: 'Mode', category: 'mode', type: 'select', currentValue: mode, options },
      description: 'What the model may do with files without a question.',
    },
  ];
}

/** What to say about the mode that counts now. */
export function describeMode(mode: AgentMode): string {
  const { name, description } = descriptions[mode];
  return `The mode is ${name}: ${description.charAt(0).toLowerCase()}${description.slice(1)}.`;
}
