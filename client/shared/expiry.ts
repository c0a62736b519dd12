/** Beyond this the runner was told to keep the model for good. In ms. */
const forGood = 365 * 24 * 3600 * 1000;

/** Whether a model that stays loaded until then stays until it is stopped. Both times in ms since 1970. */
export function staysForGood(expiresAt: number, now: number): boolean {
  return expiresAt - now > forGood;
}
