import type { LogLevel } from '../protocol/initialize.ts';

/** What the daemon says of itself; never a prompt, an answer or a secret. */
export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export interface LogOptions {
  /** The least severe level that is written, as it is now. */
  readonly level: () => LogLevel;
  /** Takes secrets out; in front of every sink. */
  readonly redact: (text: string) => string;
  readonly write: (level: LogLevel, message: string) => void;
}

export function createLog({ level, redact, write }: LogOptions): Log {
  const at = (own: LogLevel) => (message: string) => {
    if (order.indexOf(own) >= order.indexOf(level())) write(own, redact(message));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
