import { LanguageClient } from 'vscode-languageclient/node';

/** The library's client without its inline completion: ours is registered only while a model is set, and awaits. */
export class RunnerLanguageClient extends LanguageClient {
  override registerFeature(feature: Parameters<LanguageClient['registerFeature']>[0]): void {
    const isInlineCompletion =
      'registrationType' in feature && feature.registrationType.method === 'textDocument/inlineCompletion';
    if (!isInlineCompletion) super.registerFeature(feature);
  }

  /** Only logs: we decide what the user sees, and how often. */
  override error(message: string, cause?: unknown): void {
    super.error(message, cause, false);
  }
}

export { CloseAction, ErrorAction, ProgressType, RevealOutputChannelOn } from 'vscode-languageclient/node';
