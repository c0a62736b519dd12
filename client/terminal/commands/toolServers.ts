import { createInterface } from 'node:readline';
import { showLine } from '../../../protocol/base/text.ts';
import type { InvalidParamsData } from '../../../protocol/messages/errors.ts';
import type { InitializationOptions } from '../../../protocol/messages/initialize.ts';
import {
  type FinishLoginResult,
  finishLoginRequest,
  type LoginResult,
  listToolsRequest,
  loginRequest,
  logoutRequest,
} from '../../../protocol/messages/tools.ts';
import { type CommandContext, tell } from '../cli/command.ts';
import { failureOf, refusedParameter, type TerminalError, usageError } from '../cli/failure.ts';
import { canAsk, interruptible, type Terminal } from '../cli/terminal.ts';
import { chooseTools } from '../conversation/chatSettings.ts';
import { withDaemon } from '../daemon/connection.ts';
import type { DaemonClient } from '../daemon/daemon.ts';
import { toolsTable } from '../screen/tools.ts';

/** Lists the tool servers and their tools: as a table, or one object a server. Returns 1 if one failed. */
export async function listTools(context: CommandContext): Promise<number> {
  const { stdout } = context.terminal;
  // The built-in tools are listed where the user has switched them on.
  const { builtinTools: _, ...options } = chooseTools(context).options;
  const { servers } = await withDaemon(context, options, (daemon) => daemon.request(listToolsRequest, {}));
  if (context.commandLine.json) for (const server of servers) await stdout.writeJson(server);
  else if (servers.length === 0)
    await stdout.writeLine(
      'There is no tool server. Enter one in "mcpServers" of ~/.config/runner/config.json.',
    );
  else await stdout.write(toolsTable(servers, stdout));
  return servers.some(({ state }) => state === 'failed') ? 1 : 0;
}

/** The words after `runner mcp`. */
export const mcpWords: readonly string[] = ['login', 'logout'];

/**
 * Logs in to a tool server, or out. The daemon does the login; the terminal shows the address and opens it in a
 * browser.
 */
export async function runMcp(context: CommandContext): Promise<number> {
  const [word = '', server = ''] = context.commandLine.words;
  if (!mcpWords.includes(word) || server === '')
    throw usageError(
      'Say what to do and with which tool server: runner mcp login NAME, or runner mcp logout NAME',
    );
  const { name, ...options } = namedServer(server);
  return withDaemon(context, options, async (daemon) => {
    const named = { daemon, server: name, shown: showLine(server) };
    try {
      return await (word === 'login' ? logIn : logOut)(context, named);
    } catch (error) {
      const refused = refusedParameter(error);
      throw refused?.path === 'server' ? unfitServer(refused, error) : error;
    }
  });
}

/** The daemon describes a parameter, which is a word of the command line here. */
function unfitServer({ problem }: InvalidParamsData, cause: unknown): TerminalError {
  const sentence = showLine(`${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`);
  return usageError(`${sentence} "runner tools" lists the tool servers.`, { cause });
}

/** A login belongs to an address. So it can also be for a server that only an editor has entered. */
function namedServer(word: string): Pick<InitializationOptions, 'mcpServers'> & { readonly name: string } {
  if (!/^https?:\/\//.test(word) || !URL.canParse(word)) return { name: word };
  // A name that no entry of the user has: the user's entry would be used instead.
  const name = 'address-of-the-command-line';
  return { name, mcpServers: { [name]: { url: word } } };
}

interface LoginTarget {
  readonly daemon: DaemonClient;
  readonly server: string;
  /** As the user typed it. */
  readonly shown: string;
}

async function logIn(context: CommandContext, named: LoginTarget): Promise<number> {
  const {
    terminal,
    commandLine: { json, noBrowser },
    program,
  } = context;
  const { daemon, server, shown } = named;
  const finished = await interruptible(terminal, async (signal) => {
    const login = await daemon.request(loginRequest, { server }, signal);
    if (json) await terminal.stdout.writeJson({ event: 'open', url: login.url });
    else await showAddress(terminal, login, shown);
    if (canAsk(terminal) && !noBrowser) program.openAddress?.(login.url);
    return finishLogin(terminal, named, signal);
  });
  if (!finished)
    return tell(context, { event: 'cancelled', server: shown }, 'Stopped. Nobody was logged in.');
  const scopes = finished.scope === undefined ? '' : `, for: ${showLine(finished.scope)}`;
  const words = `You are logged in to ${shown}${scopes}.`;
  return tell(context, { event: 'done', server: shown, ...finished }, words);
}

async function showAddress(
  terminal: Terminal,
  { url, redirectUrl }: LoginResult,
  shown: string,
): Promise<void> {
  const { stderr } = terminal;
  await stderr.writeLine(`To log in to ${shown}, open this address in your browser:\n`);
  await stderr.writeLine(`${showLine(url)}\n`);
  if (canAsk(terminal))
    await stderr.writeText(
      `If the browser is on another machine, it ends at a page that it cannot open. Paste the address of that page here; it begins with ${redirectUrl}`,
    );
}

/** Waits until the browser was redirected, or the user has pasted the address that it was redirected to. */
async function finishLogin(
  terminal: Terminal,
  { daemon, server }: LoginTarget,
  signal: AbortSignal,
): Promise<FinishLoginResult> {
  const finished = daemon.request(finishLoginRequest, { server }, signal);
  if (!canAsk(terminal)) return finished;
  // The mode of the terminal stays as it is, so that Ctrl-C still reaches this program as a signal.
  const lines = createInterface({ input: terminal.stdin, terminal: false });
  lines.on('line', (redirectedTo) => {
    if (redirectedTo.trim() === '') return;
    // `finished` waits for the result of the right address.
    daemon.request(finishLoginRequest, { server, redirectedTo }, signal).catch(async (error) => {
      if (refusedParameter(error)?.path === 'redirectedTo')
        await terminal.stderr.writeLine(failureOf(error).message);
    });
  });
  try {
    return await finished;
  } finally {
    lines.close();
  }
}

async function logOut(context: CommandContext, { daemon, server, shown }: LoginTarget): Promise<number> {
  const result = await daemon.request(logoutRequest, { server });
  return tell(context, { event: 'done', server: shown, ...result }, logoutSentence(shown, result));
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
