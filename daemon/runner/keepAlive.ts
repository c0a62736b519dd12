/** `keep_alive` as the runner takes it: numbers are seconds, and text without a unit would be refused. */
export function keepAliveToWire(keepAlive: string | number): string | number {
  return typeof keepAlive === 'string' && /^-?\d+$/.test(keepAlive) ? Number(keepAlive) : keepAlive;
}
