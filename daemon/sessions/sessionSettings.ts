export interface SessionSettings {
  readonly keepSessions: boolean;
  /** After so many days without a turn a conversation is deleted. */
  readonly sessionDays: number;
}

/** Where both say something, the stricter counts. */
export function stricter(one: SessionSettings, other: Partial<SessionSettings>): SessionSettings {
  return {
    keepSessions: one.keepSessions && other.keepSessions !== false,
    sessionDays: Math.min(one.sessionDays, other.sessionDays ?? one.sessionDays),
  };
}
