/** The part of `cross-spawn` that writes what the command processor of Windows reads. */
declare module 'cross-spawn/lib/util/escape.js' {
  export function command(file: string): string;
  /** `isReadTwice`: the script hands the argument to a command line of its own. */
  export function argument(text: string, isReadTwice: boolean): string;
}
