import { createEmitter, type Event } from '../base/event.ts';
import { type Lazy, lazily } from '../base/lazily.ts';
import type { SessionSettings, Sessions, SessionsOptions } from './sessions.ts';

/** The kept conversations. The store is loaded when one is first needed. */
export interface LazySessions extends Lazy<Sessions> {
  /** A conversation was created, changed or deleted. */
  readonly onDidChange: Event<void>;
}

interface LazySessionsOptions extends Omit<SessionsOptions, 'onDidChange'> {
  /** What the user's own file says in addition to the settings. */
  readonly userSettings: () => Promise<Partial<SessionSettings>>;
}

export function createLazySessions({ userSettings, ...options }: LazySessionsOptions): LazySessions {
  const changes = createEmitter<void>();
  const store = lazily(async () => {
    const [{ createSessions }, own] = await Promise.all([import('./sessions.ts'), userSettings()]);
    const settings = () => stricter(options.settings(), own);
    return createSessions({ ...options, settings, onDidChange: () => changes.fire() });
  });
  return { ...store, onDidChange: changes.event };
}

/** Combines two settings. Where they differ, the stricter one applies. */
function stricter(one: SessionSettings, other: Partial<SessionSettings>): SessionSettings {
  return {
    keepSessions: one.keepSessions && other.keepSessions !== false,
    sessionDays: Math.min(one.sessionDays, other.sessionDays ?? one.sessionDays),
  };
}
