import { createInterface } from 'node:readline';
import type { InvalidParamsData } from '../../../protocol/messages/errors.ts';
import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import {
  type FinishLoginResult,
  finishLoginRequest,
  type LoginResult,
  loginRequest,
  logoutRequest,
} from '../../../protocol/messages/tools.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { failureOf, refusedParameter, TerminalError } from '../cli/failure.ts';
import { type Surroundings, writeLine, writeText } from '../cli/streams.ts';
import { interruptible } from '../conversation/interruptible.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { showLine } from '../screen/controlCharacters.ts';

/** What stands behind `runner mcp`. */
export const mcpWords: readonly string[] = ['login', 'logout'];

/** Logs in to a tool server, or out. The daemon does it; here the address is shown, and opened at a terminal. */
export async function runMcp(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const [word = '', server = ''] = commandLine.words;
  if (!mcpWords.includes(word) || server === '')
    throw new TerminalError(
      'usage',
      'Say what to do and with which tool server: runner mcp login NAME, or runner mcp logout NAME',
    );
  const { name, ...entries } = namedServer(server);
  const shown = showLine(server);
  return withDaemon(surroundings, { commandLine, ...entries }, async (daemon) => {
    const named = { daemon, server: name, shown };
    try {
      return await (word === 'login' ? logIn : logOut)(surroundings, commandLine, named);
    } catch (error) {
      const refused = refusedParameter(error);
      throw refused?.path === 'server' ? unfitServer(refused, error) : error;
    }
  });
}

/** The daemon's sentence is about a parameter; here it is a word of the command line. */
function unfitServer({ problem }: InvalidParamsData, cause: unknown): TerminalError {
  const sentence = showLine(`${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`);
  return new TerminalError('usage', `${sentence} "runner tools" lists the tool servers.`, { cause });
}

/** A login is for an address, so one may be named that only an editor has entered. */
function namedServer(word: string): Pick<InitializationOptions, 'mcpServers'> & { readonly name: string } {
  if (!/^https?:\/\//.test(word) || !URL.canParse(word)) return { name: word };
  // Not a name that an entry of the user's own may have, which would win.
  const name = 'address-of-the-command-line';
  return { name, mcpServers: { [name]: { url: word } } };
}

interface Named {
  readonly daemon: Daemon;
  readonly server: string;
  /** As it was typed. */
  readonly shown: string;
}

async function logIn(
  surroundings: Surroundings,
  { json, noBrowser }: CommandLine,
  { daemon, server, shown }: Named,
): Promise<number> {
  const { stdout, stderr } = surroundings;
  const outcome = await interruptible(surroundings, async (signal) => {
    const login = await daemon.request(loginRequest, { server }, signal);
    if (json) await writeLine(stdout, JSON.stringify({ event: 'open', url: login.url }));
    else await showAddress(surroundings, login, shown);
    if (isAtTerminal(surroundings) && !noBrowser) surroundings.openAddress?.(login.url);
    return finish(surroundings, { daemon, server, shown }, signal);
  });
  if (outcome.kind === 'interrupted') {
    await (json
      ? writeLine(stdout, JSON.stringify({ event: 'cancelled', server: shown }))
      : writeLine(stderr, 'Stopped. Nobody was logged in.'));
    return 130;
  }
  const { scope } = outcome.value;
  await (json
    ? writeLine(stdout, JSON.stringify({ event: 'done', server: shown, ...outcome.value }))
    : writeText(
        stderr,
        `You are logged in to ${shown}${scope === undefined ? '' : `, for: ${showLine(scope)}`}.`,
      ));
  return 0;
}

async function showAddress(
  surroundings: Surroundings,
  { url, redirectUrl }: LoginResult,
  shown: string,
): Promise<void> {
  const { stderr } = surroundings;
  await writeLine(stderr, `To log in to ${shown}, open this address in your browser:\n`);
  await writeLine(stderr, `${showLine(url)}\n`);
  if (isAtTerminal(surroundings))
    await writeText(
      stderr,
      `If the browser is on another machine, it ends at a page that it cannot open. Paste the address of that page here; it begins with ${redirectUrl}`,
    );
}

/** Until the browser has come, or the address that it was sent to was pasted. */
async function finish(
  surroundings: Surroundings,
  { daemon, server }: Named,
  signal: AbortSignal,
): Promise<FinishLoginResult> {
  const finished = daemon.request(finishLoginRequest, { server }, signal);
  if (!isAtTerminal(surroundings)) return finished;
  // The terminal stays as it is, so that Ctrl-C reaches this program as ever.
  const lines = createInterface({ input: surroundings.stdin, terminal: false });
  lines.on('line', (redirectedTo) => {
    if (redirectedTo.trim() === '') return;
    // What comes of a right one is what `finished` waits for.
    daemon.request(finishLoginRequest, { server, redirectedTo }, signal).catch(async (error) => {
      if (refusedParameter(error)?.path === 'redirectedTo')
        await writeLine(surroundings.stderr, failureOf(error).message);
    });
  });
  try {
    return await finished;
  } finally {
    lines.close();
  }
}

function isAtTerminal({ stdin, stderr }: Surroundings): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

async function logOut(
  { stdout, stderr }: Surroundings,
  { json }: CommandLine,
  { daemon, server, shown }: Named,
): Promise<number> {
  const result = await daemon.request(logoutRequest, { server });
  if (json) await writeLine(stdout, JSON.stringify({ event: 'done', server: shown, ...result }));
  else await writeText(stderr, logoutSentence(shown, result));
  return 0;
}

function logoutSentence(
  server: string,
  { wasLoggedIn, isRevoked }: { readonly wasLoggedIn: boolean; readonly isRevoked: boolean },
): string {
  if (!wasLoggedIn) return `You were not logged in to ${server}.`;
  return isRevoked
    ? `You are logged out of ${server}, and its login is revoked.`
    : `You are logged out of ${server}: the login is forgotten here. The server did not confirm that it has ended.`;
}
