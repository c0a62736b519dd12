import {
  listSessionsRequest,
  type ReadSessionResult,
  readSessionRequest,
  type Session,
} from '../../../protocol/messages/sessions.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { failureOf, refusedParameter, TerminalError } from '../cli/failure.ts';
import { type Surroundings, writeText } from '../cli/streams.ts';
import { localTime } from '../commands/modelDescription.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { chooseModel } from './chooseModel.ts';

/**
 * The conversation that the command line wants to go on with; undefined where it names none.
 * @throws {TerminalError} of the kind `usage`, where there is no such one.
 */
export async function findKept(
  { cwd }: Surroundings,
  commandLine: CommandLine,
  daemon: Daemon,
): Promise<ReadSessionResult | undefined> {
  if (commandLine.session !== undefined) return openKept(daemon, commandLine.session);
  if (!commandLine.continue) return undefined;
  const { sessions } = await daemon.request(listSessionsRequest, { cwd, limit: 1 });
  if (sessions[0]) return openKept(daemon, sessions[0].id);
  throw new TerminalError(
    'usage',
    'No conversation of this folder is kept. "runner sessions" lists those of all folders.',
  );
}

/** @throws {TerminalError} of the kind `usage`, where there is none with this id. */
export function openKept(daemon: Daemon, id: string): Promise<ReadSessionResult> {
  return orUnknown(id, daemon.request(readSessionRequest, { id, open: true }));
}

/** Settles as the work does; an id that the daemon does not know is a sentence. */
export async function orUnknown<T>(id: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (refusedParameter(error)?.path !== 'id') throw error;
    throw new TerminalError(
      'usage',
      `There is no conversation "${showLine(id)}". "runner sessions" lists them.`,
    );
  }
}

/** The model that answered last, while it is installed; else the one of a new conversation. */
export async function chooseModelOf(
  { stderr }: Surroundings,
  daemon: Daemon,
  kept: ReadSessionResult | undefined,
): Promise<string> {
  const say = (sentence: string) => void writeText(stderr, sentence);
  try {
    return await chooseModel(daemon, kept?.session.model, say);
  } catch (error) {
    if (kept?.session.model === undefined || failureOf(error).kind !== 'model-not-found') throw error;
    return chooseModel(daemon, undefined, say);
  }
}

/** Such as `"Rivers", 3 turns, 2026-11-22 05:12`. */
export function describeSession(session: Session): string {
  const { turns } = session;
  return `"${titleOf(session)}", ${turns} ${turns === 1 ? 'turn' : 'turns'}, ${timeOf(session)}`;
}

export function titleOf({ title }: Session): string {
  return title === '' ? '(no title yet)' : showLine(title);
}

/** In the zone of the user. */
export function timeOf({ updatedAt }: Session): string {
  const time = new Date(updatedAt);
  return Number.isNaN(time.getTime()) ? showLine(updatedAt) : localTime(time).join(' ');
}
