/** How a document service answers a token: only a clear refusal counts as one. */
export type DocsAnswer = 'refused' | 'other';

/** Milliseconds. The caller is about to use the service anyway, and then learns why it does not answer. */
const limit = 5_000;

/** Asks with the cheapest request. */
export async function probeDocs(origin: string, token: string): Promise<DocsAnswer> {
  try {
    const response = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      // A redirect would send the token wherever the answer says.
      redirect: 'manual',
      signal: AbortSignal.timeout(limit),
    });
    await response.body?.cancel();
    return response.status === 401 ? 'refused' : 'other';
  } catch {
    return 'other';
  }
}
