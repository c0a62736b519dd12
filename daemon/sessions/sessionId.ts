const pattern = /^\d{8}-[a-z0-9]{8}$/;
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** The day and eight random characters, such as `20261122-k3f9x2ab`: a name of a file on every system, and easily typed. */
export function createSessionId(now: number, random: () => number): string {
  const day = new Date(now).toISOString().slice(0, 10).replaceAll('-', '');
  const rest = Array.from({ length: 8 }, () => letters[Math.floor(random() * letters.length)]);
  return `${day}-${rest.join('')}`;
}

/** Whether this can be the name of a conversation; asked before it becomes a part of a path. */
export function isSessionId(text: string): boolean {
  return pattern.test(text);
}
