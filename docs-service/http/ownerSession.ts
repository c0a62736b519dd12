import type { FastifyReply, FastifyRequest } from 'fastify';

/** What the owner's pages need to know about their reader. */
export interface OwnerSession {
  /**
   * Lets a request with a session pass, and sends any other to the sign-in, which leads back to it. It resolves after
   * that answer was sent (`await reply.redirect(…)`), so that nothing else answers.
   */
  requireOwner(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}
