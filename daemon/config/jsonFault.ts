/** A token of JSON with the blanks before it: a mark, a string, or another single value. */
const token =
  /[\t\n\r ]*(?:([{}[\]:,])|("[^"\\\p{Cc}]*(?:(?:[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))[^"\\\p{Cc}]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null))/uy;

type JsonExpectation = 'value' | 'item' | 'name' | 'member' | 'colon' | 'end';

/** What may follow: an `item` or a `member` may also be the end of its list or object, right after it has begun. */
const starts: Readonly<Record<JsonExpectation, RegExp>> = {
  value: /^(?![}\],:])/,
  item: /^(?![},:])/,
  name: /^"/,
  member: /^["}]/,
  colon: /^:/,
  end: /^[,}\]]/,
};

/**
 * The index of the first character that cannot follow in JSON: the length of the text if its end is missing. The
 * runtime gives the position of only some faults.
 */
export function indexOfFault(text: string): number {
  const open: ('{' | '[')[] = [];
  let expected: JsonExpectation = 'value';
  let index = 0;
  for (;;) {
    token.lastIndex = index;
    const [read = '', mark = '', string, other] = token.exec(text) ?? [];
    const written = mark || string || other || '';
    const isDone = expected === 'end' && open.length === 0;
    if (written === '' || isDone || !starts[expected].test(written) || !isClosing(mark, open))
      return index + text.slice(index).search(/[^\t\n\r ]|$/);
    index += read.length;
    expected = following(mark, { expected, open });
  }
}

/** Whether a closing mark closes what was opened last. Other marks close nothing. */
function isClosing(mark: string, open: readonly string[]): boolean {
  if (mark === '}') return open.at(-1) === '{';
  return mark !== ']' || open.at(-1) === '[';
}

interface ParserState {
  readonly expected: JsonExpectation;
  /** What was opened and not closed. */
  readonly open: ('{' | '[')[];
}

function following(mark: string, { expected, open }: ParserState): JsonExpectation {
  switch (mark) {
    case '{':
    case '[':
      open.push(mark);
      return mark === '{' ? 'member' : 'item';
    case '}':
    case ']':
      open.pop();
      return 'end';
    case ',':
      return open.at(-1) === '{' ? 'name' : 'value';
    case ':':
      return 'value';
    default:
      return expected === 'name' || expected === 'member' ? 'colon' : 'end';
  }
}
