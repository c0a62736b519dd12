import type { LogParams } from '../../protocol/messages/log.ts';

/** How many lines may be unwritten, and how many characters they may have together. */
const maxLines = 1_000;
const maxCharacters = 1024 * 1024;

/**
 * Sends log lines to a client. If the client does not read them, further lines are left out until it has read some.
 * Then a line says how many were left out.
 */
export function createLogOutbox(
  send: (line: LogParams) => Promise<void>,
  onFailure: () => void,
): (line: LogParams) => void {
  let lines = 0;
  let characters = 0;
  let leftOut = 0;

  const write = async (line: LogParams) => {
    lines++;
    characters += line.message.length;
    try {
      await send(line);
    } catch {
      onFailure();
    } finally {
      lines--;
      characters -= line.message.length;
    }
    if (leftOut > 0 && lines < maxLines / 2 && characters < maxCharacters / 2) void write(takeLeftOut());
  };
  const takeLeftOut = (): LogParams => {
    const count = leftOut.toLocaleString('en-US');
    leftOut = 0;
    return {
      level: 'warn',
      source: 'daemon',
      message: `… ${count} lines left out because they were not read`,
    };
  };

  return (line) => {
    if (leftOut > 0 || lines >= maxLines || characters >= maxCharacters) leftOut++;
    else void write(line);
  };
}
