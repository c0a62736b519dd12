import { createEmitter, type Event } from '../base/event.ts';
import { type Lazy, lazily } from '../base/lazily.ts';
import { type SessionSettings, stricter } from './sessionSettings.ts';
import type { Sessions, SessionsOptions } from './sessions.ts';

/** The kept conversations. The store is loaded when one is first needed. */
export interface KeptSessions extends Lazy<Sessions> {
  /** A conversation was created, changed or deleted. */
  readonly onDidChange: Event<void>;
}

export interface KeptSessionsOptions extends Omit<SessionsOptions, 'onDidChange'> {
  /** What the user's own file says in addition to the settings. */
  readonly userSettings: () => Promise<Partial<SessionSettings>>;
}

export function createKeptSessions({ userSettings, ...options }: KeptSessionsOptions): KeptSessions {
  const changes = createEmitter<void>();
  const store = lazily(async () => {
    const [{ createSessions }, own] = await Promise.all([import('./sessions.ts'), userSettings()]);
    const settings = () => stricter(options.settings(), own);
    return createSessions({ ...options, settings, onDidChange: () => changes.fire() });
  });
  return { ...store, onDidChange: changes.event };
}
