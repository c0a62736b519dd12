import type { FastifyReply, FastifyRequest } from 'fastify';

/** What the pages for the owner ask about who reads them. */
export interface OwnerSession {
  /** Lets a request pass that has a session, and sends any other to the sign-in, which leads back to it. */
  requireOwner(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** What the form that signs out must send along, where there is such a form. */
  readonly csrfOf?: (request: FastifyRequest) => string;
}
