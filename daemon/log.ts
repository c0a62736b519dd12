import type { LogLevel } from '../protocol/initialize.ts';
import { createEmitter, type Event } from './event.ts';

/** What the daemon says of itself; never a prompt, an answer or a secret. */
export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
}

/** The log, and where its lines can be had. */
export interface WrittenLog extends Log {
  /** A line without secrets, no less severe than the level asks. */
  readonly onDidWrite: Event<LogLine>;
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export interface LogOptions {
  /** The least severe level that is written, as it is now. */
  readonly level: () => LogLevel;
  /** Takes secrets out; in front of every sink. */
  readonly redact: (text: string) => string;
}

export function createLog({ level, redact }: LogOptions): WrittenLog {
  const written = createEmitter<LogLine>();
  const at = (own: LogLevel) => (message: string) => {
    if (order.indexOf(own) >= order.indexOf(level())) written.fire({ level: own, message: redact(message) });
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    onDidWrite: written.event,
  };
}
