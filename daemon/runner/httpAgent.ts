import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';

export { buildConnector };

/**
 * What sends the requests. It is a bundle of its own, which is loaded with the first request. It is made of the modules
 * of undici that a request needs. All of undici, with `fetch`, WebSockets and caches, takes 7 MB more memory and twice
 * the time to load.
 */
export class HttpAgent extends Agent {
  /** As undici itself adds it to its dispatchers. */
  override request: typeof request = request;
}
