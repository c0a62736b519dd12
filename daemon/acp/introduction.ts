import type { InitializeResponse } from '@agentclientprotocol/sdk';

/** The only version of the protocol that is spoken: a client of a newer one falls back to it, or leaves. */
const acpVersion = 1;

/** The answer to `initialize`. */
export function introduction(version: string, keepsSessions: boolean): InitializeResponse {
  return {
    protocolVersion: acpVersion,
    agentInfo: { name: 'runnerd', title: 'Runner', version },
    agentCapabilities: {
      loadSession: keepsSessions,
      mcpCapabilities: { http: true },
      promptCapabilities: { image: true, embeddedContext: true, audio: false },
      sessionCapabilities: { close: {}, ...(keepsSessions ? { delete: {}, list: {}, resume: {} } : {}) },
    },
    authMethods: [],
  };
}
