import { createHash } from 'node:crypto';
import { pathSlugs, withEnding } from '../content/slug.ts';

/** Where the register lasts, even if the index is deleted. */
export interface SlugRecords {
  all(): Promise<readonly SlugRecord[]>;
  /** All or nothing. */
  change(put: readonly SlugRecord[], remove: readonly string[]): Promise<void>;
}

export interface SlugRecord {
  readonly slug: string;
  /** The file that has the slug. */
  readonly path: string;
  /** Since when the file has been gone, in milliseconds since 1970; null if it is there. */
  readonly gone: number | null;
}

/** Files that are gone and may come back. The oldest are forgotten first. */
const maxGone = 10_000;
/** More files with the same form get a part of a hash. */
const maxNumbered = 99;

/**
 * The slugs of all files whose front matter names none. A file keeps its slug as long as it is there, and gets it back
 * if it comes back and nobody has it. No new file takes an address that answers for another one.
 */
export class SlugRegister {
  readonly #slugs = new Map<string, string>();
  readonly #paths = new Map<string, string>();
  /** Of files that are gone, by path, the oldest first. */
  readonly #gone = new Map<string, SlugRecord>();
  /** Their paths by slug. */
  readonly #gonePaths = new Map<string, string>();
  /**
   * How many files that are there have a short or a long form. Counted when the first new file needs a slug, because a
   * restart seldom brings one.
   */
  #forms: Map<string, number> | undefined;
  /** Slugs of files that have disappeared since the last `settle`: a new file may be the same one, moved. */
  readonly #left = new Set<string>();
  /** Slugs that must be written or, if undefined, removed. */
  readonly #changed = new Map<string, SlugRecord | undefined>();

  private constructor(
    private readonly records: SlugRecords,
    private readonly now: () => number,
  ) {}

  static async load(records: SlugRecords, now: () => number): Promise<SlugRegister> {
    const register = new SlugRegister(records, now);
    const oldestFirst = [...(await records.all())].sort((one, other) => (one.gone ?? 0) - (other.gone ?? 0));
    for (const record of oldestFirst)
      if (record.gone === null) register.adopt(record.path, record.slug);
      else register.#keepGone(record);
    register.#changed.clear();
    return register;
  }

  paths(): readonly string[] {
    return [...this.#slugs.keys()];
  }

  /** Files that had a slug and have disappeared, or are no documents any more. */
  gonePaths(): Iterable<string> {
    return this.#gone.keys();
  }

  /** The file that has the slug. */
  holder(slug: string): string | undefined {
    return this.#paths.get(slug);
  }

  /** Records the slug that a file has already. False if the file or the slug is recorded otherwise. */
  adopt(path: string, slug: string): boolean {
    if (!this.#slugs.has(path) && !this.#paths.has(slug)) this.#put(path, slug);
    return this.#slugs.get(path) === slug;
  }

  /**
   * The slug of a file: the one that it has or had, or else the first free one. `isNamed` says whether a front matter
   * names a slug.
   * @param proposal to try first. The file moves to it if it is neither its short nor its long form, because then it is
   * what the file's front matter wants.
   */
  give(path: string, isNamed: (slug: string) => boolean, proposal?: string): string {
    const kept = this.#slugs.get(path);
    const { short, long } = pathSlugs(path);
    const isWish = proposal !== undefined && proposal !== short && proposal !== long;
    const stays = kept === proposal || !isWish || !this.#isFree(proposal, isNamed);
    if (kept !== undefined && !isNamed(kept) && stays) return kept;
    if (kept !== undefined) this.#remove(path, kept);
    const before = this.#gone.get(path)?.slug;
    const isBack = before !== undefined && !isNamed(before) && !this.#paths.has(before);
    const slug = isBack ? before : this.#firstFree(path, [proposal ?? short, long], isNamed);
    this.#put(path, slug);
    return slug;
  }

  release(path: string): void {
    const slug = this.#slugs.get(path);
    if (slug === undefined) return;
    this.#remove(path, slug);
    this.#left.add(slug);
    this.#keepGone({ slug, path, gone: this.now() });
    const [oldest] = this.#gone.keys();
    if (oldest !== undefined && this.#gone.size > maxGone) this.#forgetGone(oldest);
  }

  forget(path: string): void {
    const slug = this.#slugs.get(path);
    if (slug !== undefined) this.#remove(path, slug);
    this.#forgetGone(path);
  }

  async write(): Promise<void> {
    if (this.#changed.size === 0) return;
    const put = [...this.#changed.values()].filter((record) => record !== undefined);
    const remove = [...this.#changed].flatMap(([slug, record]) => (record === undefined ? [slug] : []));
    await this.records.change(put, remove);
    this.#changed.clear();
  }

  /** All changes that belong together have been made: a file that appears later is another one. */
  settle(): void {
    this.#left.clear();
  }

  /** No document has it, and it leads to none. */
  #isFree(slug: string, isNamed: (slug: string) => boolean): boolean {
    this.#forms ??= this.#countForms();
    return !isNamed(slug) && !this.#paths.has(slug) && !this.#forms.has(slug);
  }

  #firstFree(
    path: string,
    [short, long]: readonly [string, string],
    isNamed: (slug: string) => boolean,
  ): string {
    const isFree = (slug: string) => this.#isFree(slug, isNamed);
    if (isFree(short) || (this.#left.has(short) && !isNamed(short) && !this.#paths.has(short))) return short;
    if (isFree(long)) return long;
    for (let number = 2; number <= maxNumbered; number++) {
      const slug = withEnding(long, String(number));
      if (isFree(slug)) return slug;
    }
    return withEnding(long, createHash('sha256').update(path).digest('hex').slice(0, 16));
  }

  #put(path: string, slug: string): void {
    this.#slugs.set(path, slug);
    this.#paths.set(slug, path);
    if (this.#forms !== undefined) count(this.#forms, path, 1);
    this.#forgetGone(path);
    this.#forgetGone(this.#gonePaths.get(slug));
    this.#changed.set(slug, { slug, path, gone: null });
  }

  #remove(path: string, slug: string): void {
    this.#slugs.delete(path);
    this.#paths.delete(slug);
    if (this.#forms !== undefined) count(this.#forms, path, -1);
    this.#changed.set(slug, undefined);
  }

  #keepGone(record: SlugRecord): void {
    this.#gone.set(record.path, record);
    this.#gonePaths.set(record.slug, record.path);
    this.#changed.set(record.slug, record);
  }

  #forgetGone(path: string | undefined): void {
    const record = path === undefined ? undefined : this.#gone.get(path);
    if (record === undefined) return;
    this.#gone.delete(record.path);
    this.#gonePaths.delete(record.slug);
    this.#changed.set(record.slug, undefined);
  }

  #countForms(): Map<string, number> {
    const forms = new Map<string, number>();
    for (const path of this.#slugs.keys()) count(forms, path, 1);
    return forms;
  }
}

function count(forms: Map<string, number>, path: string, change: 1 | -1): void {
  const { short, long } = pathSlugs(path);
  for (const form of [short, long]) {
    const number = (forms.get(form) ?? 0) + change;
    if (number > 0) forms.set(form, number);
    else forms.delete(form);
  }
}
