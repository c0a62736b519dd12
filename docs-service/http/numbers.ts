import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Converts digits in the query to numbers before validation. Anything else stays text, and is refused. */
export function readNumbers(app: FastifyInstance): void {
  app.addHook('preValidation', async (request) => {
    const query = request.query as Record<string, unknown>;
    for (const name of numbersOf(request)) {
      const value = query[name];
      if (typeof value === 'string' && /^-?\d+$/.test(value)) query[name] = Number(value);
    }
  });
}

/** The names of the numeric parameters, from the route's schema. */
function numbersOf({ routeOptions }: FastifyRequest): readonly string[] {
  const schema = routeOptions.schema?.querystring as QuerySchema | undefined;
  return Object.entries(schema?.properties ?? {}).flatMap(([name, { type }]) =>
    type === 'integer' ? [name] : [],
  );
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
}
