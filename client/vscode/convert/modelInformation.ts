import type * as vscode from 'vscode';
import { defaultServerName } from '../../../protocol/initialize.ts';
import type { Model } from '../../../protocol/models.ts';

/** A model as the editor's picker has it, with what a request for it needs. */
export interface RunnerModelInformation extends vscode.LanguageModelChatInformation {
  /** Absent on the entry that stands there when there is no model. */
  readonly model?: { readonly name: string; readonly server: string };
}

/** What the editor is told where the runner says nothing of a window, in tokens. */
const unknownWindow = 4096;
const largestAnswer = 8192;

export interface InformationOptions {
  /** Whether the models of this server are the last known ones. */
  readonly isStale: (server: string) => boolean;
  /** Tokens that the settings ask for; 0 leaves the window to the runner. */
  readonly contextLength: number;
}

/** What can chat, newest first. */
export function toModelInformation(
  models: readonly Model[],
  options: InformationOptions,
): RunnerModelInformation[] {
  return models.filter(canChat).map((model) => toInformation(model, options));
}

function toInformation(model: Model, { isStale, contextLength }: InformationOptions): RunnerModelInformation {
  const { name, server, family, digest, capabilities, remote } = model;
  const window = windowOf(model, contextLength);
  const maxOutputTokens = Math.min(largestAnswer, Math.floor(window / 4));
  const details = [
    server === defaultServerName ? '' : server,
    remote ? 'remote' : '',
    isStale(server) ? 'offline' : '',
  ];
  return {
    id: server === defaultServerName ? name : `${server}/${name}`,
    name,
    family,
    version: digest?.slice(0, 12) ?? 'unknown',
    // Never under half of the window, or the editor sends nothing at all.
    maxInputTokens: window - maxOutputTokens,
    maxOutputTokens,
    capabilities: {
      imageInput: capabilities.vision.value === true,
      // Tools are tried until the model refuses them: so says the specification.
      toolCalling: capabilities.tools.value !== false,
    },
    detail: details.filter((detail) => detail !== '').join(', '),
    tooltip: tooltipOf(model),
    model: { name, server },
  };
}

/** Tokens: what the settings ask for as far as the model can, else what is allocated, will be, or could be. */
export function windowOf(
  { context: { allocated, configured, maximum } }: Model,
  contextLength: number,
): number {
  if (contextLength > 0) return Math.min(contextLength, maximum ?? contextLength);
  return allocated ?? configured ?? maximum ?? unknownWindow;
}

export function canChat({ capabilities: { completion, embedding } }: Model): boolean {
  return completion.value !== false && !(completion.value === 'unknown' && embedding.value === true);
}

function tooltipOf({ name, details, context: { allocated, maximum } }: Model): string {
  const size = details ? ` ${details.parameterSize} ${details.quantization}` : '';
  const window = allocated ?? maximum;
  return `${name}${size}${window === undefined ? '' : `, ${window.toLocaleString('en-US')} tokens`}`;
}
