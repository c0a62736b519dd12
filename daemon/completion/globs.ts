/** Whether a path is excluded. */
export type Excludes = (path: string) => boolean;

/**
 * Globs as editors write them: `*` and `?` within a name, `**` across folders, `[a-z]` and `[!a-z]`, `{one,other}`. They
 * are looked for at every depth, a folder excludes all that is below it, and the case of letters does not count: where a
 * glob can be read in two ways, more is excluded. Time is linear in the glob to compile it and linear in the path for
 * each glob, whatever the glob.
 */
export function createExcludes(globs: readonly string[]): Excludes {
  const matchers = globs.map((glob) => glob.trim()).flatMap((glob) => (glob === '' ? [] : [compile(glob)]));
  return (path) => {
    const characters = [...path.replace(/\\/g, '/').toLowerCase()];
    return matchers.some((nodes) => matches(nodes, characters));
  };
}

/** A state of the automaton: what it takes, and the states after it. A state that takes nothing is passed through. */
interface State {
  readonly takes?: (character: string) => boolean;
  readonly next: number[];
}

const end = -1;

/** Choices within choices that go deeper are read as they are written. */
const maxDepth = 32;

function compile(glob: string): readonly State[] {
  const plain = glob
    .replace(/\\/g, '/')
    .toLowerCase()
    .replace(/^(\.?\/)+/, '')
    .replace(/\/+$/, '');
  const compiler = new Compiler([...plain]);
  return compiler.states();
}

const isInName = (character: string) => character !== '/';
const isAny = () => true;

class Compiler {
  readonly #glob: readonly string[];
  readonly #states: State[] = [];
  readonly #lastBrace: number;
  /** Where the next "]" is, at or after each place. */
  readonly #nextBracket: Int32Array;
  #at = 0;
  #depth = 0;

  constructor(glob: readonly string[]) {
    this.#glob = glob;
    this.#lastBrace = glob.lastIndexOf('}');
    this.#nextBracket = new Int32Array(glob.length + 2).fill(-1);
    for (let at = glob.length - 1; at >= 0; at -= 1)
      this.#nextBracket[at] = glob[at] === ']' ? at : (this.#nextBracket[at + 1] ?? -1);
  }

  /** The first state is where it begins. */
  states(): readonly State[] {
    const first = this.#add({ next: [] });
    const last = this.#sequence(first, '');
    this.#link(last, end);
    return this.#states;
  }

  /** Reads up to one of these characters or the end; returns the state that it ends in. */
  #sequence(from: number, until: string): number {
    let last = from;
    for (; this.#at < this.#glob.length; this.#at += 1) {
      const character = this.#glob[this.#at] ?? '';
      if (until.includes(character)) break;
      last = this.#part(last, character);
    }
    return last;
  }

  #part(from: number, character: string): number {
    if (character === '*') return this.#star(from);
    if (character === '?') return this.#take(from, isInName);
    if (character === '[') return this.#set(from);
    if (character === '{' && this.#lastBrace > this.#at && this.#depth < maxDepth) return this.#choice(from);
    return this.#take(from, (other) => other === character);
  }

  #star(from: number): number {
    if (this.#glob[this.#at + 1] !== '*') return this.#loop(from, isInName);
    while (this.#glob[this.#at + 1] === '*') this.#at += 1;
    // A slash after it is optional: `**/x` is x at the top too.
    if (this.#glob[this.#at + 1] !== '/') return this.#loop(from, isAny);
    this.#at += 1;
    const loop = this.#loop(from, isAny);
    const slash = this.#take(loop, (character) => character === '/');
    this.#link(from, slash);
    return slash;
  }

  #set(from: number): number {
    const close = this.#nextBracket[this.#at + 2] ?? -1;
    if (close === -1) return this.#take(from, (character) => character === '[');
    const inside = this.#glob.slice(this.#at + 1, close);
    this.#at = close;
    const isNegated = inside[0] === '!' || inside[0] === '^';
    const isMember = memberOf(isNegated ? inside.slice(1) : inside);
    return this.#take(from, (character) => isInName(character) && isMember(character) !== isNegated);
  }

  #choice(from: number): number {
    const joined = this.#add({ next: [] });
    this.#depth += 1;
    while (this.#glob[this.#at] !== '}' && this.#at < this.#glob.length) {
      this.#at += 1;
      this.#link(this.#sequence(from, ',}'), joined);
    }
    this.#depth -= 1;
    return joined;
  }

  #loop(from: number, takes: (character: string) => boolean): number {
    const loop = this.#add({ takes, next: [] });
    const after = this.#add({ next: [] });
    this.#link(loop, loop);
    this.#link(loop, after);
    this.#link(from, loop);
    this.#link(from, after);
    return after;
  }

  #take(from: number, takes: (character: string) => boolean): number {
    const taking = this.#add({ takes, next: [] });
    const after = this.#add({ next: [] });
    this.#link(from, taking);
    this.#link(taking, after);
    return after;
  }

  #add(state: State): number {
    return this.#states.push(state) - 1;
  }

  #link(from: number, to: number): void {
    this.#states[from]?.next.push(to);
  }
}

/** Single characters and ranges; a "-" at either end is one of the characters. */
function memberOf(members: readonly string[]): (character: string) => boolean {
  const isRange = (index: number) => members[index] === '-' && index > 0 && index < members.length - 1;
  const singles = new Set(members.filter((_, index) => !isRange(index)));
  const ranges = members.flatMap((_, index) =>
    isRange(index) ? [[members[index - 1] ?? '', members[index + 1] ?? ''] as const] : [],
  );
  return (character) =>
    singles.has(character) || ranges.some(([first, last]) => character >= first && character <= last);
}

/** Begins at each name of the path, and has to end where a name ends. */
function matches(states: readonly State[], path: readonly string[]): boolean {
  let active = new Set<number>();
  for (let at = 0; at <= path.length; at += 1) {
    const isNameEnd = at === path.length || path[at] === '/';
    if (at === 0 || path[at - 1] === '/') enter(states, 0, active);
    if (isNameEnd && active.has(end)) return true;
    active = step(states, active, path[at]);
  }
  return false;
}

function step(
  states: readonly State[],
  active: ReadonlySet<number>,
  character: string | undefined,
): Set<number> {
  const after = new Set<number>();
  if (character === undefined) return after;
  for (const index of active) {
    const state = states[index];
    if (state?.takes?.(character)) for (const next of state.next) enter(states, next, after);
  }
  return after;
}

/** Makes a state active, and those that are reached from it without taking anything. */
function enter(states: readonly State[], first: number, active: Set<number>): void {
  const waiting = [first];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    if (active.has(index)) continue;
    active.add(index);
    const state = states[index];
    if (state && !state.takes) for (const next of state.next) waiting.push(next);
  }
}
