import { spawnSync } from 'node:child_process';

/**
 * What a test that needs a program of a Debian package passes as `skip`: false where the program is there; else the
 * line that installs it. With `CI` set a missing program is an error, because CI installs what the tests need.
 */
export function skipWithout(program: string, aptPackage = program): false | string {
  if (spawnSync('which', [program]).status === 0) return false;
  const line = `${program} is missing; install it with: apt-get install ${aptPackage}`;
  if (process.env['CI']) throw new Error(line);
  return line;
}
