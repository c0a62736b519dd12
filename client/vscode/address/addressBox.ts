import type { InputBox } from 'vscode';
import type { AddressAdvice } from './addressAdvice.ts';

export interface AddressBoxOptions {
  /** Such as `The Runner's Address`. */
  readonly title: string;
  readonly prompt: string;
  readonly value: string;
  readonly placeholder: string;
  readonly advise: (text: string) => AddressAdvice;
  /** What is wrong with what answers there, in a sentence; undefined if nothing is. */
  readonly probe: (url: string) => Promise<string | undefined>;
}

/** The numbers of the editor's severities of a message. */
const [info, warning, error] = [1, 2, 3] as const;

/**
 * Shows a new box, and disposes of it. Each key is checked. Enter tries the address; where nothing fits there, the box
 * stays and says so, and a second Enter keeps the address all the same. Undefined if the user leaves the box.
 */
export function askForAddress(
  box: InputBox,
  { title, prompt, value, placeholder, advise, probe }: AddressBoxOptions,
): Promise<string | undefined> {
  Object.assign(box, { title, prompt, value, placeholder, ignoreFocusOut: true });
  /** The text that was tried without success. */
  let tried: string | undefined;
  let accepted: string | undefined;
  const check = () => {
    const advice = advise(box.value);
    const severity = advice.kind === 'wrong' ? error : info;
    box.validationMessage = advice.message && { message: advice.message, severity };
    return advice;
  };
  const finish = (text: string) => {
    accepted = text;
    box.hide();
  };
  const accept = async () => {
    const text = box.value.trim();
    const advice = check();
    if (advice.kind === 'wrong') return;
    if (text === '' || text === tried) return finish(text);
    box.busy = true;
    box.enabled = false;
    const problem = await probe(advice.url);
    box.busy = false;
    box.enabled = true;
    if (problem === undefined) return finish(text);
    tried = text;
    const message = `${problem} Press Enter again to keep the address all the same.`;
    box.validationMessage = { message, severity: warning };
  };
  return new Promise((resolve) => {
    box.onDidChangeValue(check);
    box.onDidAccept(() => void accept());
    box.onDidHide(() => {
      resolve(accepted);
      box.dispose();
    });
    check();
    box.show();
  });
}
