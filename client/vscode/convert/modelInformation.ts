import type * as vscode from 'vscode';
import { canChat } from '../../../protocol/messages/choice.ts';
import { defaultServerName } from '../../../protocol/messages/initialize.ts';
import type { Model } from '../../../protocol/messages/models.ts';
import { describeWindow } from './contextWindow.ts';

/** A model in the editor's picker, with what a request for it needs. */
export interface RunnerModelInformation extends vscode.LanguageModelChatInformation {
  /** Absent on the entry that is shown when there is no model. */
  readonly model?: { readonly name: string; readonly server: string };
}

/**
 * The window that the editor gets for a model whose server has shown none yet, in tokens. The editor's agent begins
 * with about 17,000: with a smaller window, it would summarize a conversation that may well fit.
 */
const assumedWindow = 32_768;
const largestAnswer = 8192;

export interface InformationOptions {
  /** Whether the models of this server are the last known ones. */
  readonly isStale: (server: string) => boolean;
  readonly windows: Windows;
}

/** What decides the window of a model that is not loaded. */
export interface Windows {
  /** Tokens that the settings ask for; 0 leaves the window to the runner. */
  readonly contextLength: number;
  /** Tokens that a server allocates if nobody asks for a number, once that was seen. */
  readonly usual: (server: string) => number | undefined;
}

/** The models that can chat, newest first. */
export function toModelInformation(
  models: readonly Model[],
  options: InformationOptions,
): RunnerModelInformation[] {
  return models.filter(canChat).map((model) => toInformation(model, options));
}

function toInformation(model: Model, { isStale, windows }: InformationOptions): RunnerModelInformation {
  const { name, server, family, digest, capabilities, remote } = model;
  const window = windowOf(model, windows);
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
    // Never less than half of the window, or the editor sends nothing at all.
    maxInputTokens: window - maxOutputTokens,
    maxOutputTokens,
    capabilities: {
      imageInput: capabilities.vision.value === true,
      // The specification says: offer tools until the model refuses them.
      toolCalling: capabilities.tools.value !== false,
    },
    detail: details.filter((detail) => detail !== '').join(', '),
    tooltip: tooltipOf(model, window),
    model: { name, server },
  };
}

/** In tokens: what the settings ask for, up to the model's maximum; else what is allocated, or usually would be. */
export function windowOf({ server, remote, context }: Model, { contextLength, usual }: Windows): number {
  const { allocated, configured, maximum } = context;
  if (contextLength > 0) return Math.min(contextLength, maximum ?? contextLength);
  const promised = allocated ?? configured ?? (remote && maximum);
  return promised ?? Math.min(usual(server) ?? assumedWindow, maximum ?? assumedWindow);
}

/** The same words as in the views, with the window that the next question gets. */
function tooltipOf({ name, details, context, running, remote }: Model, window: number): string {
  const size = details ? ` ${details.parameterSize} ${details.quantization}` : '';
  const known = remote ? { ...context, allocated: context.allocated ?? window } : context;
  const words = describeWindow({ context: known, ...(running && { running }) }, window);
  return `${name}${size}${words && `, a window of ${words}`}`;
}
