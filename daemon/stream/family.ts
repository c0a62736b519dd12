/** A pair of literal marks. The answer or a tool's result may stand between them. */
export interface FamilyMarks {
  readonly open: string;
  /** Empty if nothing closes it. */
  readonly close: string;
}

/** A tag around tool calls, whose content may have any form. */
export interface CallTag extends FamilyMarks {
  /**
   * For a tag that is a word, as prose may have it: it counts only at the beginning of a line, and only before an
   * object, a list or a fence (`value`), or before the name of a tool with arguments whose keys have no quotes
   * (`toolName`).
   */
  readonly onlyBefore?: 'value' | 'toolName';
  /** For a tag that data may have too: a name without arguments in it is no call. */
  readonly needsArguments?: true;
  /** The rest of the tag has an attribute that says nothing. */
  readonly hasAttribute?: true;
}

/** Calls and arguments written as elements, with values as verbatim text. */
export interface ElementForm {
  /** Empty for pairs of a name and a value, which follow the name of the tool. */
  readonly call: string;
  readonly callClose: string;
  readonly parameters: readonly FamilyMarks[];
  /** The end of the tag with the name of a tool or a parameter. */
  readonly tagEnd: string;
  /** What begins a value. Between the name of the parameter and this mark its type may stand. */
  readonly valueOpen?: string;
  /** A value may be a CDATA section. */
  readonly hasSections?: true;
  /** The template puts no line breaks around a value. A model may still frame a value with two of them. */
  readonly isRaw?: true;
}

/** Literal marks around thinking. `label` is a word on the first line that names the channel. */
export interface ThinkingMarks extends FamilyMarks {
  readonly label?: string;
  /** What closes the thinking before a call. It ends with the mark of the call. */
  readonly beforeCall?: string;
  /** For a word that prose may begin with: it counts only before a character that is no blank. */
  readonly isGlued?: true;
}

/** What closes thinking: an element with one of these names, or one of these marks. */
export interface ThinkingEnd {
  readonly names: readonly string[];
  readonly marks?: readonly string[];
  /** A word that may be on the first line and is not part of the thinking. */
  readonly label?: string;
}

/**
 * What the models of a family write in addition to what all models write. `models` restricts a row whose marks are
 * ordinary text for other models.
 */
export interface Family {
  readonly family: string;
  /** Where the form is documented: a parser of the runner or of an engine, or the model's template. */
  readonly source: string;
  readonly models?: RegExp;
  readonly calls?: readonly CallTag[];
  readonly elements?: readonly ElementForm[];
  /** Marks between the name of a tool and its arguments. */
  readonly separators?: readonly string[];
  /** Names of elements that mean thinking, in lower case. A model may write them in upper case too. */
  readonly thinkingTags?: readonly string[];
  readonly thinking?: readonly ThinkingMarks[];
  /** Marks around the answer. They are removed if they begin the answer. */
  readonly answer?: readonly FamilyMarks[];
  /** Marks around a tool's result that a model echoes. */
  readonly results?: readonly FamilyMarks[];
  /** Special tokens that end a turn. */
  readonly ends?: readonly string[];
}
