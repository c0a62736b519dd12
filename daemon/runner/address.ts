/** The rules of addresses, which a client needs too: a token belongs to an origin. */
export { isLoopback, parseAddress } from '../../protocol/address.ts';
