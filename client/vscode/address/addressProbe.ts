/** What answers at an address: a runner, a runner that wants a token, something else, or nothing. */
export type ProbeAnswer = 'runner' | 'closed' | 'other' | 'nothing';

/** Milliseconds, and characters of an answer: enough for a version. */
const limit = 4_000;
const longest = 10_000;

/** Asks a runner for its version, which needs no model and no token. */
export async function probeRunner(url: string): Promise<ProbeAnswer> {
  return probe(`${url}/api/version`, (text) => /"version"\s*:\s*"/.test(text));
}

/** Asks a catalog for its list, as the daemon would. */
export async function probeCatalog(url: string): Promise<ProbeAnswer> {
  return probe(`${url}/api/tags`, (text) => /"models"\s*:/.test(text));
}

async function probe(url: string, isRight: (text: string) => boolean): Promise<ProbeAnswer> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(limit) });
    if (response.status === 401 || response.status === 403) {
      await response.body?.cancel();
      return 'closed';
    }
    const text = await beginningOf(response);
    return response.ok && isRight(text) ? 'runner' : 'other';
  } catch {
    return 'nothing';
  }
}

async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longest) break;
  }
  return text;
}
