import type { Memento } from 'vscode';

export interface CancelWarningOptions {
  /** Of the editor. */
  readonly version: string;
  readonly memory: Memento;
  readonly show: (sentence: string) => void;
}

const memoryKey = 'runner.saidThatCancelsAreLost';

/** Says once, when the editor's own chat asks for the first time, that this version may not pass on a cancel. */
export function createCancelWarning({ version, memory, show }: CancelWarningOptions): () => void {
  return () => {
    if (cancelsReliably(version) || memory.get(memoryKey) === true) return;
    void memory.update(memoryKey, true);
    show(
      `VS Code ${version} does not always stop a model when you cancel in the editor's own chat. Update to 1.127 or newer, or ask @runner, which always stops.`,
    );
  };
}

/** Whether a cancel in the editor's own chat reaches a model of an extension: not always before VS Code 1.127. */
function cancelsReliably(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 127);
}
