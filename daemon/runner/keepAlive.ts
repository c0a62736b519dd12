/** `keep_alive` in a form that the runner accepts. Numbers are seconds, and the runner refuses text without a unit. */
export function keepAliveToWire(keepAlive: string | number): string | number {
  return typeof keepAlive === 'string' && /^-?\d+$/.test(keepAlive) ? Number(keepAlive) : keepAlive;
}
