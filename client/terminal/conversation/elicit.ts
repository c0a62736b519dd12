import { showControls, showLine } from '../../../protocol/base/controlCharacters.ts';
import type {
  ElicitField,
  ElicitParams,
  ElicitResult,
  ElicitValue,
} from '../../../protocol/messages/elicit.ts';
import { isYes } from '../cli/question.ts';
import type { Output } from '../screen/output.ts';
import type { LineEditor } from './lineEditor.ts';

/** Asks a person what a tool server wants to know. An aborted signal withdraws the question. */
export type Elicit = (question: ElicitParams, signal: AbortSignal) => Promise<ElicitResult>;

/**
 * Asks whether to answer, and then for one value after another; the daemon checks them. A bar stands before every word
 * of the server, so that none of its lines passes for a question of Runner.
 */
export function elicitThrough(editor: Pick<LineEditor, 'question'>, stdout: Output): Elicit {
  return async (question, signal) => {
    const { fields, problem, url } = question;
    const ask = async (words: string) => (await editor.question(words, signal))?.trim();
    if (problem === undefined) {
      await stdout.writeText(introduce(question, stdout));
      const agreed = await askYes(url === undefined ? agreeWords(fields) : 'did you open it?', ask);
      if (agreed !== true) return { action: agreed === undefined ? 'cancel' : 'decline' };
    } else await stdout.writeText(stdout.style.yellow(`│ ${showLine(problem)}`));
    const content: Record<string, ElicitValue> = {};
    for (const field of fields) {
      const value = await askValue(field, ask, stdout);
      if (value === undefined) return { action: 'cancel' };
      if (value !== '') content[field.name] = value;
    }
    return { action: 'accept', content };
  };
}

function introduce({ server, message, warning, url, host }: ElicitParams, { style }: Output): string {
  const name = showLine(server);
  const lines = [
    url === undefined
      ? `The tool server ${name} asks you:`
      : `The tool server ${name} asks you to open a page of ${showLine(host ?? '')} in your browser:`,
    ...showControls(message)
      .split('\n')
      .map((line) => style.dim(`│ ${line}`)),
    ...(url === undefined ? [] : [`│ ${showLine(url)}`]),
    ...(warning === undefined ? [] : [style.yellow(showLine(warning))]),
  ];
  return lines.join('\n');
}

function agreeWords(fields: readonly ElicitField[]): string {
  return fields.length === 0 ? 'agree?' : 'answer?';
}

type Ask = (words: string) => Promise<string | undefined>;

/** Undefined if the person leaves the question. */
async function askYes(words: string, ask: Ask): Promise<boolean | undefined> {
  for (;;) {
    const answer = await ask(`${words} [y]es, [n]o `);
    if (answer === undefined) return undefined;
    if (/^no?$/i.test(answer)) return false;
    if (isYes(answer)) return true;
  }
}

/** As typed; empty if the person leaves it out. */
async function askValue(field: ElicitField, ask: Ask, stdout: Output): Promise<ElicitValue | undefined> {
  const { title, name, description, type, options = [], required } = field;
  const about = description === undefined ? '' : ` (${showLine(description)})`;
  const numbered = options.map((option, index) => `│ ${index + 1} ${showLine(option.title)}`);
  if (numbered.length > 0) await stdout.writeText(numbered.join('\n'));
  const usual = defaultWords(field);
  const hint = usual ? ` [${usual}]` : required ? '' : ' [none]';
  const answer = await ask(`│ ${showLine(title ?? name)}${about}${kindWords[type]}${hint}: `);
  if (answer === undefined) return undefined;
  if (type !== 'choices') return byNumber(answer, options);
  const chosen = answer.split(',').map((one) => byNumber(one.trim(), options));
  return chosen.filter((one) => one !== '');
}

const kindWords: Readonly<Record<ElicitField['type'], string>> = {
  text: '',
  number: ', a number',
  integer: ', a whole number',
  boolean: ', yes or no',
  choice: ', its number',
  choices: ', numbers with commas',
};

function defaultWords({ default: usual, options = [] }: ElicitField): string {
  if (usual === undefined) return '';
  if (typeof usual === 'boolean') return usual ? 'yes' : 'no';
  const titleOf = (value: unknown) =>
    options.find((option) => option.value === value)?.title ?? String(value);
  return showLine(Array.isArray(usual) ? usual.map(titleOf).join(', ') : titleOf(usual));
}

function byNumber(answer: string, options: NonNullable<ElicitField['options']>): string {
  return /^\d+$/.test(answer) ? (options[Number(answer) - 1]?.value ?? answer) : answer;
}
