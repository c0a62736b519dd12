import type { LogLevel } from '../protocol/initialize.ts';
import { createEmitter, type Event } from './event.ts';

/** What the daemon reports about itself; never a prompt, an answer or a secret. */
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

/** The log, and the event that carries its lines. */
export interface WrittenLog extends Log {
  /** A line without secrets, at least as severe as the level demands. */
  readonly onDidWrite: Event<LogLine>;
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export interface LogOptions {
  /** The current level: less severe lines are not written. */
  readonly level: () => LogLevel;
  /** Removes secrets; every sink gets only what this returns. */
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
