import { IndexUnavailable } from '../search/documentIndex.ts';

/** Tokens and sign-ins cannot be read or stored now. The message is for the operator. */
export class AccessUnavailable extends IndexUnavailable {}
