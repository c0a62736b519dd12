import { LanguageClient } from 'vscode-languageclient/node';

/** The library's client without its inline completion: ours is registered while a model for it is set, and awaits. */
export class RunnerLanguageClient extends LanguageClient {
  override registerFeature(feature: Parameters<LanguageClient['registerFeature']>[0]): void {
    const isInlineCompletion =
      'registrationType' in feature && feature.registrationType.method === 'textDocument/inlineCompletion';
    if (!isInlineCompletion) super.registerFeature(feature);
  }

  /** To the log alone: what the user is told, and how often, is ours to say. */
  override error(message: string, cause?: unknown): void {
    super.error(message, cause, false);
  }
}

export { CloseAction, ErrorAction, ProgressType, RevealOutputChannelOn } from 'vscode-languageclient/node';
