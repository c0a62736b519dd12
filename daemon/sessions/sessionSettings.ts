export interface SessionSettings {
  readonly keepSessions: boolean;
  /** A conversation is deleted after this many days without a turn. */
  readonly sessionDays: number;
}

/** Combines two settings. Where they differ, the stricter one applies. */
export function stricter(one: SessionSettings, other: Partial<SessionSettings>): SessionSettings {
  return {
    keepSessions: one.keepSessions && other.keepSessions !== false,
    sessionDays: Math.min(one.sessionDays, other.sessionDays ?? one.sessionDays),
  };
}
