/** The work, or an error with the message where it takes longer than so many milliseconds. */
export async function withLimit<T>(work: Promise<T>, limit: number, message: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message())), limit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again until the answer fits, for so many milliseconds at most. */
export async function poll<R>(
  ask: () => Promise<R>,
  fits: (value: R) => boolean,
  within: number,
): Promise<R> {
  const end = Date.now() + within;
  for (;;) {
    const value = await ask();
    if (fits(value)) return value;
    if (Date.now() > end)
      throw new Error(`It did not come within ${within} ms. Last: ${JSON.stringify(value)?.slice(0, 2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Settles when the value has been the same ten times in a row. Use it only where no event can tell. */
export async function settled(value: () => unknown): Promise<void> {
  let last = value();
  for (let same = 0; same < 10; same += 1) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    if (value() !== last) same = -1;
    last = value();
  }
}
