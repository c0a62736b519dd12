import { c, cpp, csharp, dart, java, kotlin, objectiveC, scala } from '@codemirror/legacy-modes/mode/clike';
import { clojure } from '@codemirror/legacy-modes/mode/clojure';
import { cmake } from '@codemirror/legacy-modes/mode/cmake';
import { css, less, sCSS } from '@codemirror/legacy-modes/mode/css';
import { diff } from '@codemirror/legacy-modes/mode/diff';
import { dockerFile } from '@codemirror/legacy-modes/mode/dockerfile';
import { elm } from '@codemirror/legacy-modes/mode/elm';
import { erlang } from '@codemirror/legacy-modes/mode/erlang';
import { go } from '@codemirror/legacy-modes/mode/go';
import { groovy } from '@codemirror/legacy-modes/mode/groovy';
import { haskell } from '@codemirror/legacy-modes/mode/haskell';
import { javascript, json, typescript } from '@codemirror/legacy-modes/mode/javascript';
import { julia } from '@codemirror/legacy-modes/mode/julia';
import { lua } from '@codemirror/legacy-modes/mode/lua';
import { fSharp, oCaml } from '@codemirror/legacy-modes/mode/mllike';
import { nginx } from '@codemirror/legacy-modes/mode/nginx';
import { perl } from '@codemirror/legacy-modes/mode/perl';
import { powerShell } from '@codemirror/legacy-modes/mode/powershell';
import { properties } from '@codemirror/legacy-modes/mode/properties';
import { protobuf } from '@codemirror/legacy-modes/mode/protobuf';
import { python } from '@codemirror/legacy-modes/mode/python';
import { r } from '@codemirror/legacy-modes/mode/r';
import { ruby } from '@codemirror/legacy-modes/mode/ruby';
import { rust } from '@codemirror/legacy-modes/mode/rust';
import { shell } from '@codemirror/legacy-modes/mode/shell';
import { standardSQL } from '@codemirror/legacy-modes/mode/sql';
import { stex } from '@codemirror/legacy-modes/mode/stex';
import { swift } from '@codemirror/legacy-modes/mode/swift';
import { toml } from '@codemirror/legacy-modes/mode/toml';
import { html, xml } from '@codemirror/legacy-modes/mode/xml';
import { yaml } from '@codemirror/legacy-modes/mode/yaml';
import { type StreamParser, StringStream } from '@codemirror/streamparser';

/** What a part of code is, as far as a reader sees it. Everything else has no kind. */
export type CodeKind = 'keyword' | 'string' | 'number' | 'name' | 'comment' | 'inserted' | 'deleted';

export interface CodeToken {
  readonly text: string;
  readonly kind: CodeKind | undefined;
}

/** A reader for the code of a fence with this label; undefined if the language is unknown. */
export function createCodeReader(label: string): CodeReader | undefined {
  const parser = languages.get(/^[\w+#-]*/.exec(label.trim().toLowerCase())?.[0] ?? '');
  return parser === undefined ? undefined : createReader(parser);
}

const tabSize = 4;
/** In UTF-16 units. The time that a parser takes can grow with the cube of a line, so longer lines have no kinds. */
const maxLine = 300;
/** Some parsers take seconds for a hundred spaces. Indentation may be longer. */
const longGap = /\S\s{21}/;
/** How often a parser may change its state without reading on. */
const maxLooks = 10;

export type CodeReader = ReturnType<typeof createReader>;

/** Reads code line by line. The tokens of a line together are its text. */
function createReader<S>(parser: StreamParser<S>) {
  const state = parser.startState?.(tabSize) as S;
  let isBroken = false;
  return {
    line(text: string): readonly CodeToken[] {
      if (isBroken || text.length > maxLine || longGap.test(text)) return [{ text, kind: undefined }];
      try {
        forgetOthers(parser);
        return readLine(parser, state, text);
      } catch {
        // Code need not be in the language of its fence.
        isBroken = true;
        return [{ text, kind: undefined }];
      }
    },
  };
}

/** The parser of JavaScript keeps its last token outside of its state, where other readers would see it. */
function forgetOthers<S>(parser: StreamParser<S>): void {
  parser.token(new StringStream(';', tabSize, tabSize), parser.startState?.(tabSize) as S);
}

function readLine<S>(parser: StreamParser<S>, state: S, text: string): CodeToken[] {
  if (text === '') parser.blankLine?.(state, tabSize);
  const stream = new StringStream(text, tabSize, tabSize);
  const tokens: CodeToken[] = [];
  while (!stream.eol()) {
    const style = nextToken(parser, state, stream);
    tokens.push({ text: stream.current(), kind: kindOf(style) });
    stream.start = stream.pos;
  }
  return tokens;
}

function nextToken<S>(parser: StreamParser<S>, state: S, stream: StringStream): string {
  for (let looks = 0; looks < maxLooks; looks++) {
    const style = parser.token(stream, state);
    if (stream.pos > stream.start) return style ?? '';
  }
  stream.next();
  return '';
}

/** A token may have several names, each with modifiers after a dot. */
function kindOf(style: string): CodeKind | undefined {
  for (const name of style.split(/\s+/)) {
    const kind = kinds.get(name.split('.')[0] ?? '');
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** By the names that parsers give. */
const kinds: ReadonlyMap<string, CodeKind> = new Map([
  ['keyword', 'keyword'],
  ['string', 'string'],
  ['character', 'string'],
  ['inserted', 'inserted'],
  ['deleted', 'deleted'],
  ['comment', 'comment'],
  ['number', 'number'],
  ['atom', 'number'],
  ['def', 'name'],
  ['type', 'name'],
  ['builtin', 'name'],
  ['tag', 'name'],
  ['tagName', 'name'],
  ['header', 'name'],
  ['meta', 'name'],
]);

type AnyParser = Parameters<typeof createReader<unknown>>[0];

/** By the labels of fences. */
const languages: ReadonlyMap<string, AnyParser> = new Map(
  (
    [
      ['js jsx mjs cjs javascript node', javascript],
      ['ts tsx mts cts typescript', typescript],
      ['json jsonc json5 jsonl', json],
      ['py python python3 pycon', python],
      ['sh bash zsh shell console terminal shell-session fish', shell],
      ['go golang', go],
      ['rs rust', rust],
      ['c h', c],
      ['cpp c++ cc cxx hpp arduino', cpp],
      ['cs csharp c#', csharp],
      ['java', java],
      ['kt kotlin', kotlin],
      ['scala', scala],
      ['dart', dart],
      ['objc objective-c objectivec', objectiveC],
      ['rb ruby', ruby],
      ['yml yaml', yaml],
      ['toml', toml],
      ['ini properties env dotenv conf cfg', properties],
      ['css', css],
      ['scss sass', sCSS],
      ['less', less],
      ['html htm vue svelte', html],
      ['xml svg xhtml', xml],
      ['sql postgres postgresql mysql sqlite', standardSQL],
      ['lua', lua],
      ['diff patch', diff],
      ['dockerfile docker containerfile', dockerFile],
      ['pl perl', perl],
      ['swift', swift],
      ['r', r],
      ['jl julia', julia],
      ['hs haskell', haskell],
      ['ps1 powershell pwsh', powerShell],
      ['nginx', nginx],
      ['cmake', cmake],
      ['proto protobuf', protobuf],
      ['groovy gradle', groovy],
      ['clj cljs clojure', clojure],
      ['elm', elm],
      ['erl erlang', erlang],
      ['ml ocaml', oCaml],
      ['fs fsharp f#', fSharp],
      ['tex latex', stex],
    ] as const
  ).flatMap(([words, parser]) => words.split(' ').map((word) => [word, parser as AnyParser] as const)),
);
