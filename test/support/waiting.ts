/**
 * How long tests wait for what must come, in ms. Only a test that fails waits so long: it is more than a machine needs
 * that is busy with ten other things. Where many tests are to fail, RUNNER_TEST_PATIENCE makes it shorter.
 */
export const patience = Number(process.env['RUNNER_TEST_PATIENCE'] ?? 180_000);

/** The work, or an error with the message where it does not end. */
export async function withPatience<T>(work: Promise<T>, message: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message())), patience);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again until the answer fits. */
export async function poll<R>(ask: () => Promise<R>, fits: (value: R) => boolean): Promise<R> {
  const end = Date.now() + patience;
  for (;;) {
    const value = await ask();
    if (fits(value)) return value;
    if (Date.now() > end)
      throw new Error(
        `It did not come within ${patience} ms. Last: ${JSON.stringify(value)?.slice(0, 2_000)}`,
      );
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
