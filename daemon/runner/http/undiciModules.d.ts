// The modules of undici that its types do not list. Each exports what `undici` exports under the name given here.

declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici';
  export = Agent;
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';
  export = buildConnector;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Agent } from 'undici';

  const request: Agent['request'];
  export = request;
}
