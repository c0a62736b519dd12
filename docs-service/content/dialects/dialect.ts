import { count } from '../../../protocol/base/text.ts';
import type { FileWarning, WarningKind } from '../document.ts';
import { withoutCode } from '../markdownLines.ts';

/** What the content folder says about the program that its files were written for. */
export interface TreeMarks {
  /** It has `.obsidian/`. */
  readonly isVault: boolean;
  /** It has `_config.yml`. */
  readonly isJekyll: boolean;
  /** What stands for `{{ site.name }}`, which is a text of Jekyll's configuration. */
  readonly site?: ReadonlyMap<string, string>;
  /** It has `book.toml` or a `SUMMARY.md`. */
  readonly isBook: boolean;
  /** The file that the name in a wikilink means, if one is known. */
  readonly tryNamed: (name: string, from: string) => string | undefined;
  /** Whether a file is a document. */
  readonly isDocument?: (path: string) => boolean;
  /** The address of a picture that is not at the place that is written. */
  readonly tryPicture: (written: string, from: string) => string | undefined;
  /** A file outside of the content folder, as paths from there call it; undefined if it may not be included. */
  readonly tryOther: (path: string) => string | undefined;
  /** The only folder with documents, with a final slash; empty for the content folder. */
  readonly docs: string;
}

/** A text as its author wrote it. */
export interface WrittenText {
  readonly path: string;
  readonly body: string;
  /** The line of the file for each line of the body. */
  readonly lineOf: (line: number) => number;
  readonly tree?: TreeMarks | undefined;
  /** From its front matter, for texts that quote it. */
  readonly title?: string | undefined;
  /** Whether templates in its text stay text, as its front matter says. */
  readonly isVerbatim?: boolean;
}

/** A line of the text, on its way to its canonical form. */
export interface Line {
  readonly text: string;
  /** Of the file, counted from 1. */
  readonly line: number;
}

const noMarks: TreeMarks = {
  ...{ isVault: false, isJekyll: false, isBook: false },
  tryNamed: () => undefined,
  tryPicture: () => undefined,
  tryOther: () => undefined,
  docs: '',
};

/** The reading of one file: what its parts must know, and what they had to leave out. */
export class Dialect {
  readonly path: string;
  readonly tree: TreeMarks;
  readonly title: string | undefined;
  readonly isVerbatim: boolean;
  /** Whether JSX is all over it: braces are expressions, and four blanks are no code. */
  readonly isMdx: boolean;
  /** Those that it imports, by the names that it gives them. */
  readonly pictures = new Map<string, string>();
  /** Of the tabs that come next, if those around them name them. */
  tabLabels: string[] = [];
  /** Tags in its prose. */
  readonly tags = new Set<string>();
  /** Names of places, for links from any document. */
  readonly targets = new Set<string>();
  /** Names in wikilinks that no file has yet. */
  readonly unnamed = new Set<string>();
  /** Addresses of pictures that are nowhere yet. */
  readonly unplaced = new Set<string>();
  readonly #counts = new Map<WarningKind, { readonly line: number; readonly names: string[] }>();

  constructor({ path, tree = noMarks, title, isVerbatim = false }: WrittenText) {
    this.path = path;
    this.tree = tree;
    this.title = title;
    this.isVerbatim = isVerbatim;
    this.isMdx = /\.mdx$/i.test(path);
  }

  /** The text without its code. */
  proseOf(text: string): string {
    return withoutCode(text, { hasIndentedCode: !this.isMdx });
  }

  /** Notes that something was left out. There is one warning for all of a kind. */
  note(kind: WarningKind, name: string, line: number): void {
    const known = this.#counts.get(kind);
    if (known === undefined) this.#counts.set(kind, { line, names: [name] });
    else known.names.push(name);
  }

  warnings(): readonly FileWarning[] {
    return [...this.#counts].map(([kind, { line, names }]) => {
      const [noun, done] = sentences[kind] ?? ['part', 'was left out'];
      const shown = [...new Set(names)].slice(0, maxNamed).map((name) => name.slice(0, 100));
      const more = new Set(names).size > shown.length ? ' …' : '';
      const verb = names.length === 1 ? done : done.replace(/^was/, 'were').replace(/^is/, 'are');
      const message = `${count(names.length, noun)} ${verb}: ${shown.join(', ')}${more}`;
      const about = shown[0] ?? '';
      return { kind, line, message, about, ...(names.length > 1 ? { count: names.length } : {}) };
    });
  }
}

const maxNamed = 5;

const sentences: Readonly<Partial<Record<WarningKind, readonly [noun: string, done: string]>>> = {
  directive: ['block', 'is of an unknown kind, so only its text is shown'],
  shortcode: ['shortcode', 'was left out'],
  liquid: ['template tag', 'was left out'],
  component: ['component', 'was left out, except for the text in it'],
  expression: ['expression', 'was left out'],
  include: ['file', 'was not included'],
  'duplicate-id': ['id', 'is there twice, so the later one has a number'],
  limit: ['block', 'was not read, because there are too many'],
};
