import { type CallTag, type ElementForm, pairForm, separators } from './families.ts';
import { Marks } from './marks.ts';
import type { StreamProfile } from './profile.ts';

/** What a mark among calls means. */
export type CallToken =
  | { readonly kind: 'open'; readonly tag: CallTag }
  | { readonly kind: 'call'; readonly form: ElementForm }
  | { readonly kind: 'parameter'; readonly form: ElementForm; readonly close: string }
  | { readonly kind: 'close' | 'callClose' | 'parameterClose' | 'separator' | 'end' }
  | { readonly kind: 'arguments' | 'callId' }
  /** An element with the name of a parameter. */
  | { readonly kind: 'element' };

/** A table of marks is the same for all replies, so it is kept. */
const known = new WeakMap<StreamProfile['callTags'], Marks<CallToken>>();

/** All marks that may occur among the calls of a model. */
export function callMarksOf(profile: StreamProfile): Marks<CallToken> {
  const marks = known.get(profile.callTags) ?? createCallMarks(profile);
  known.set(profile.callTags, marks);
  return marks;
}

function createCallMarks({ callTags, elements, ends }: StreamProfile): Marks<CallToken> {
  const tokens: [string, CallToken][] = [];
  const add = (literal: string, token: CallToken) => {
    if (literal !== '') tokens.push([literal, token]);
  };
  for (const end of ends) add(end, { kind: 'end' });
  for (const tag of callTags) {
    // A prefix is read separately.
    if (/^[<[]/.test(tag.open)) add(tag.open, { kind: 'open', tag });
    add(tag.close, { kind: 'close' });
  }
  for (const form of [...elements, pairForm]) {
    add(form.call, { kind: 'call', form });
    add(form.callClose, { kind: 'callClose' });
    for (const { open, close } of form.parameters) {
      add(open, { kind: 'parameter', form, close });
      add(close, { kind: 'parameterClose' });
    }
  }
  for (const separator of separators) add(separator, { kind: 'separator' });
  add('[ARGS]', { kind: 'arguments' });
  add('[CALL_ID]', { kind: 'callId' });
  return new Marks(tokens);
}
