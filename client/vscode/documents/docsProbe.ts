/** What a document service says to a token: only a plain no counts as one. */
export type DocsAnswer = 'refused' | 'other';

/** Milliseconds. Whoever waits is about to use the service anyway, and is then told why it does not answer. */
const limit = 5_000;

/** Asks as cheaply as can be. */
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
      // A redirect would take the token to wherever the answer says.
      redirect: 'manual',
      signal: AbortSignal.timeout(limit),
    });
    await response.body?.cancel();
    return response.status === 401 ? 'refused' : 'other';
  } catch {
    return 'other';
  }
}
