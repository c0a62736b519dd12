import type { LogParams } from '../../protocol/messages/log.ts';
import type { LogLevel } from '../../protocol/messages/settings.ts';
import { createEmitter, type Event } from './event.ts';

/** What the daemon reports about itself; never a prompt, an answer or a secret. */
export interface Log {
  debug(message: string): void;
  info(message: string, more?: LogDetails): void;
  warn(message: string, more?: LogDetails): void;
  error(message: string): void;
}

export type LogLine = Omit<LogParams, 'source'>;
type LogDetails = Pick<LogParams, 'code' | 'refused'>;

/** The log, and the event that carries its lines. */
export interface WrittenLog extends Log {
  /** A line without secrets, at least as severe as the level demands. */
  readonly onDidWrite: Event<LogLine>;
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/**
 * `level` is the current one: less severe lines are not written. `redact` removes secrets: every sink gets only what
 * it returns.
 */
export function createLog(level: () => LogLevel, redact: (text: string) => string): WrittenLog {
  const written = createEmitter<LogLine>();
  const at = (own: LogLevel) => (message: string, more?: LogDetails) => {
    if (order.indexOf(own) < order.indexOf(level())) return;
    written.fire({ level: own, message: redact(message), ...more });
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    onDidWrite: written.event,
  };
}
