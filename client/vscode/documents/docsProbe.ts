/** In ms. The editor is about to use the service anyway, and then reports why it does not answer. */
const probeLimit = 5_000;

/** Whether a document service clearly refuses a token, asked with the cheapest request. */
export async function refuses(origin: string, token: string): Promise<boolean> {
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
      signal: AbortSignal.timeout(probeLimit),
    });
    await response.body?.cancel();
    return response.status === 401;
  } catch {
    return false;
  }
}
