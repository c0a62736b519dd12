/** What sends the requests. It is a bundle of its own, which is loaded with the first request. */
export { Agent, buildConnector } from 'undici';
