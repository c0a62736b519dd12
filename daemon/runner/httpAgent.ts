/** What requests are sent with; a bundle of its own, which nothing waits for before the first request. */
export { Agent, buildConnector } from 'undici';
