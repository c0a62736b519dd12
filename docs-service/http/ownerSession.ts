import type { FastifyReply, FastifyRequest } from 'fastify';

/** What the pages for the owner ask about who reads them. */
export interface OwnerSession {
  /**
   * Lets a request pass that has a session, and sends any other to the sign-in, which leads back to it. Resolves when
   * that answer has gone out (`await reply.redirect(…)`), so that nothing else answers.
   */
  requireOwner(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}
