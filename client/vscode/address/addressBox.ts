import * as vscode from 'vscode';
import { isLoopback } from '../../../protocol/base/loopback.ts';
import { messageOf } from '../../../protocol/base/text.ts';
import { parseAddress } from '../../../protocol/messages/settings.ts';

interface AddressQuestion {
  /** Such as `The Runner's Address`. */
  readonly title: string;
  readonly prompt: string;
  readonly value: string;
  readonly placeholder: string;
  readonly advise: (text: string) => AddressAdvice;
  /** A sentence that says what is wrong at this address; undefined if nothing is. */
  readonly probe: (url: string) => Promise<string | undefined>;
}

/**
 * Asks in a box. The text is checked while it is typed. Enter tries the address; if nothing fits
 * there, the box stays and says so, and a second Enter keeps the address. Undefined if the user leaves the box.
 */
export function askForAddress({ advise, probe, ...texts }: AddressQuestion): Promise<string | undefined> {
  const box = vscode.window.createInputBox();
  const severities = vscode.InputBoxValidationSeverity;
  Object.assign(box, { ...texts, ignoreFocusOut: true });
  /** The text that was tried without success. */
  let tried: string | undefined;
  let accepted: string | undefined;
  const check = () => {
    const advice = advise(box.value);
    const severity = advice.kind === 'wrong' ? severities.Error : severities.Info;
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
    box.validationMessage = { message, severity: severities.Warning };
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

/** A remark on an address while it is typed. */
export type AddressAdvice =
  | { readonly kind: 'wrong'; readonly message: string }
  /** `url` is where requests would go. */
  | { readonly kind: 'good'; readonly url: string; readonly message?: string };

/** `environment` is the address that counts if nothing is typed: that of `OLLAMA_HOST`, or `""`. */
export function adviseOnAddress(text: string, environment: string): AddressAdvice {
  const trimmed = text.trim();
  try {
    const url = parseAddress(trimmed === '' ? environment : trimmed);
    const message = remarkOn(trimmed, url, environment);
    return { kind: 'good', url, ...(message === undefined ? {} : { message }) };
  } catch (error) {
    return { kind: 'wrong', message: `This address cannot be used: ${messageOf(error)}.` };
  }
}

function remarkOn(text: string, url: string, environment: string): string | undefined {
  if (text === '')
    return environment ? `Empty: ${url}, as OLLAMA_HOST says.` : `Empty: ${url}, the usual address.`;
  if (url.startsWith('http:') && !isLoopback(url))
    return `Requests go to ${url}. Without https, others in the network can read what is sent.`;
  return url === text.replace(/\/+$/, '') ? undefined : `Requests go to ${url}.`;
}
