import { isRecord } from '../../../protocol/base/json.ts';
import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import { endsInOpenThinking } from '../chatTemplate.ts';

/** What llama.cpp's `/props` says about its model. */
export interface Props {
  /** Tokens of the window of one slot. */
  readonly window?: number;
  /** How many requests it answers at once. */
  readonly slots?: number;
  readonly template?: string;
  readonly capabilities: readonly string[];
  readonly opensThinking: boolean;
  /** Only our own engine says so. */
  readonly leavesCalls?: true;
  readonly isRouter: boolean;
  /** Its model was unloaded after a time without requests. The next one loads it again. */
  readonly isSleeping?: true;
  readonly version?: string;
}

/** The most characters of a template that are kept. */
const maxTemplate = 256 * 1024;

export function parseProps(value: unknown): Props {
  const props = isRecord(value) ? value : {};
  const settings = isRecord(props['default_generation_settings']) ? props['default_generation_settings'] : {};
  const caps = isRecord(props['chat_template_caps']) ? props['chat_template_caps'] : {};
  const modalities = isRecord(props['modalities']) ? props['modalities'] : {};
  const { chat_template: text, build_info: version } = props;
  const template = typeof text === 'string' && text.length <= maxTemplate ? text : undefined;
  const { total_slots: slots } = props;
  const window = settings['n_ctx'];
  const thinks = template !== undefined && /<think(?:ing)?>|reasoning_content/i.test(template);
  return withoutUndefined<Props>({
    window: typeof window === 'number' && window > 0 ? window : undefined,
    slots: typeof slots === 'number' && slots > 0 ? slots : undefined,
    template,
    capabilities: [
      'completion',
      ...(caps['supports_tools'] === true ? ['tools'] : []),
      ...(modalities['vision'] === true ? ['vision'] : []),
      ...(thinks ? ['thinking'] : []),
    ],
    // The server splits what it knows as thinking; the rest begins as the template ends.
    opensThinking: !thinks && template !== undefined && endsInOpenThinking(template),
    leavesCalls: props['parses_tool_calls'] === false || undefined,
    isRouter: props['role'] === 'router',
    isSleeping: props['is_sleeping'] === true || undefined,
    version: typeof version === 'string' ? version.slice(0, 64) : undefined,
  });
}
