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
import type { CodeColours } from './markdownBlock.ts';

/** Colours for the code of a fence with this label; undefined if the language is unknown. */
export function createCodeColours(label: string): CodeColours | undefined {
  const parser = languages.get(/^[\w+#-]*/.exec(label.trim().toLowerCase())?.[0] ?? '');
  return parser === undefined ? undefined : createColours(parser);
}

const tabSize = 4;
/** How often a parser may change its state without reading on. */
const maxLooks = 10;

function createColours<S>(parser: StreamParser<S>): CodeColours {
  const state = parser.startState?.(tabSize) as S;
  let isBroken = false;
  return {
    line(text) {
      if (isBroken) return text;
      try {
        return colourLine(parser, state, text);
      } catch {
        // The code of a model need not be in the language of its fence.
        isBroken = true;
        return text;
      }
    },
  };
}

function colourLine<S>(parser: StreamParser<S>, state: S, text: string): string {
  if (text === '') parser.blankLine?.(state, tabSize);
  const stream = new StringStream(text, tabSize, tabSize);
  let shown = '';
  while (!stream.eol()) {
    const style = nextToken(parser, state, stream);
    shown += colourOf(style, stream.current());
    stream.start = stream.pos;
  }
  return shown;
}

function nextToken<S>(parser: StreamParser<S>, state: S, stream: StringStream): string {
  for (let looks = 0; looks < maxLooks; looks++) {
    const style = parser.token(stream, state);
    if (stream.pos > stream.start) return style ?? '';
  }
  stream.next();
  return '';
}

/** Colours that are readable on dark and light backgrounds. Other code has the terminal's own colour. */
const colours: ReadonlyMap<string, number> = new Map([
  ['keyword', 35],
  ['string', 32],
  ['string-2', 32],
  ['character', 32],
  ['inserted', 32],
  ['deleted', 31],
  ['comment', 2],
  ['number', 33],
  ['atom', 33],
  ['bool', 33],
  ['null', 33],
  ['def', 36],
  ['type', 36],
  ['typeName', 36],
  ['builtin', 36],
  ['tag', 36],
  ['tagName', 36],
  ['header', 36],
  ['heading', 36],
  ['meta', 36],
]);

/** A token may have several names, each with modifiers after a dot. */
function colourOf(style: string, text: string): string {
  const names = style.split(/\s+/).map((name) => name.split('.')[0] ?? '');
  const colour = names.map((name) => colours.get(name)).find((found) => found !== undefined);
  return colour === undefined ? text : `\u001b[${colour}m${text}\u001b[0m`;
}

type AnyParser = Parameters<typeof createColours<unknown>>[0];

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
