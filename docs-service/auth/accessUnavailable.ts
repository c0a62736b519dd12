import { IndexUnavailable } from '../index/documentIndex.ts';

/** Tokens and sign-ins cannot be read or kept right now. The message is for who runs the service. */
export class AccessUnavailable extends IndexUnavailable {}
