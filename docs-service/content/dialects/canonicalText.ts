import { plainEnds } from '../../../protocol/base/text.ts';
import { replaceParts, withoutCode } from '../markdownLines.ts';
import { withPlainBlocks } from './blocks.ts';
import { Dialect, type Line, type WrittenText } from './dialect.ts';
import { type IncludeFile, withIncludes, withNamedLinks } from './includes.ts';
import { closingMark, mark, openingMark } from './kinds.ts';
import { withPlainDefinitions, withPlainHeadings } from './looseBlocks.ts';
import { withPlainMarks } from './marks.ts';
import { withoutTags } from './tags.ts';

/**
 * A text of any dialect as everything else in this program reads it: GitHub's Markdown, with a few elements of HTML;
 * the line of the file for each of its lines, counted from 1; and `prose`, the text without its code, if it was needed.
 * One without foreign forms stays byte for byte. The time is proportional to its length; a text that would become too
 * long stays as it was.
 * @param include without it nothing is included
 */
export function toCanonicalText(
  written: WrittenText,
  include?: IncludeFile,
): { text: string; prose?: string; lineOf: WrittenText['lineOf']; dialect: Dialect } {
  const { body, lineOf } = written;
  const dialect = new Dialect(written);
  const isForeign =
    /!\[[^[\]\n]*\]\(<?(?:\/|@site|~|\.\.\/)/.test(body) ||
    dialect.isMdx ||
    foreign.test(body) ||
    (dialect.tree.isVault && /%%|(?:^|\s)#\S|\^/.test(body));
  if (!isForeign) return { text: body, lineOf, dialect };
  const prose = dialect.proseOf(body);
  const isOnlyInCode =
    !dialect.isMdx && !dialect.tree.isVault && !foreign.test(prose) && !foreignCode.test(body);
  if (isOnlyInCode) return { text: body, prose, lineOf, dialect };
  const plain = plainEnds(body);
  const own = plain.split('\n').map((text, at) => ({ text, line: lineOf(at + 1) }));
  const whole = include === undefined ? own : withIncludes(own, dialect, include);
  const source = whole.map(({ text }) => text.replace(/[\ufdd0\ufdd1]/g, '\ufffd')).join('\n');
  const isModule = dialect.isMdx || /^import\s[^\n]*\sfrom\s*["'][^"'\n]+["'];?\s*$/m.test(source);
  const lineAt = (line: number) => whole[line - 1]?.line ?? lineOf(1);
  for (const [, name = '', path = ''] of isModule ? source.matchAll(importedPicture) : [])
    dialect.pictures.set(name, path);
  const withoutModules = isModule ? withoutImports(source, dialect) : source;
  const tagless = withoutTags(withMarkdownInside(withoutModules), dialect, lineAt);
  const headed = withPlainHeadings([...numbered(tagless, lineAt)], dialect);
  const blocks = withPlainDefinitions(withPlainBlocks(headed, dialect), dialect);
  const lines = withPlainMarks(blocks, dialect, mystForms.test(source));
  const placed = withPlacedPictures(withoutEscapes(lines.map((line) => line.text).join('\n')), dialect);
  const text = withNamedLinks(placed, dialect, include);
  if (text === plain || text.length > 4 * source.length + 10_000) return { text: body, lineOf, dialect };
  return { text, lineOf: (line) => lines[line - 1]?.line ?? lineOf(1), dialect };
}

const foreign =
  /^[ \t>]*(?::::|!!!|\?\?\?|===[!+]{0,2}[ \t]+"|\/\/\/|> ?\[!|\[!|\(\S+\)=|:[ \t]|\*\[|\{[:#.]|\[TOC\]|import[ \t])|\{[{%]|\{:?[ \t]*[#.]\w|\{\/?\*|\{\w+\}`|\{:|\{[ \t]*\w+=|\[\[|(?<!!)\[\]\([^)]|<\/?[A-Z]|^[ \t]*<h[1-6][ >]|<[a-z]+\b[^<>\n]*\smarkdown\b|<<<|8<-|\[!code|highlight-|^[ \t>]*(?:```|~~~)[^\n]*[{[:=,]|:(?:material|fontawesome|octicons|simple|fa)-/m;

/** What counts within code, or in the line that begins it. */
const foreignCode =
  /^[ \t>]*(?:```|~~~)[^\n]*[{[:=,]|\[!code|highlight-(?:next|start|end)|8<-|\{\{[#<%{]|\{% *(?:raw|include)|!\[[^[\]\n]*\]\(<?(?:\/|@site|~|\.\.\/)/m;

/** Directives, roles and targets: only MyST writes them so. */
const mystForms = /^[ \t]*(?:```|~~~|:::)[`~:]*\{\w|^\([^()\s]{1,200}\)=[ \t]*$|\{[\w:-]{1,50}\}`/m;

const importedPicture =
  /^import[ \t]+(\w{1,100})[ \t]+from[ \t]+["']([^"'\n]{1,1000}\.(?:png|jpe?g|gif|webp|svg|avif))["']/gim;

/** `import` and `export` at the beginning of a paragraph, up to an empty line. The lines stay. */
function withoutImports(text: string, dialect: Dialect): string {
  const begins = dialect.isMdx
    ? /^(?:import|export)[ \t{]/
    : /^(?:import\s+(?:.*\sfrom\s*)?["']|import\s[^"'.]*\{\s*$|export\s+(?:const|let|default|function)\b)/;
  const prose = dialect.proseOf(text).split('\n');
  let isModule = false;
  return text
    .split('\n')
    .map((line, at) => {
      const shown = prose[at] ?? '';
      isModule = shown.trim() !== '' && (isModule || begins.test(shown));
      return isModule ? '' : line;
    })
    .join('\n');
}

/** Marks in place of elements that only arrange the Markdown in them, such as `<div markdown>`. */
function withMarkdownInside(text: string): string {
  if (!arranging.test(text)) return text;
  const open: { readonly name: string; readonly isArranging: boolean }[] = [];
  const replacementAt = ({ 0: tag, 1: slash, 2: written = '', index }: RegExpExecArray) => {
    const name = written.toLowerCase();
    const last = open.findLastIndex((one) => one.name === name);
    const isArranging = slash ? open[last]?.isArranging : arranging.test(tag);
    if (slash) open.length = Math.max(0, last);
    else if (open.length < maxOpen) open.push({ name, isArranging: isArranging ?? false });
    const mark = slash ? closingMark(name) : openingMark({ kind: 'content', name, label: '' });
    return isArranging ? { end: index + tag.length, text: mark } : undefined;
  };
  return replaceParts(text, /<(\/?)(div|section|span)\b[^<>]*>/gi, replacementAt, withoutCode(text));
}

const arranging = /<(?:div|section|span)\b[^<>]*\smarkdown\b[^<>]*>/i;
const maxOpen = 100;

/** A mark of a container gets a line for itself. */
function* numbered(text: string, lineOf: (line: number) => number): Generator<Line> {
  for (const [at, whole] of text.split('\n').entries()) {
    const line = lineOf(at + 1);
    if (!whole.includes(mark.start)) {
      yield { text: whole, line };
      continue;
    }
    const indent = /^[ \t]*/.exec(whole)?.[0] ?? '';
    for (const part of whole.split(/(\ufdd0[^\ufdd1]*\ufdd1)/))
      if (part.startsWith(mark.start)) yield { text: indent + part, line };
      else if (part.trim() !== '')
        yield { text: part.startsWith(indent) ? part : indent + part.trimStart(), line };
  }
}

const picture =
  /(!\[[^[\]\n]{0,500}\]\(<?|<img\s[^<>]{0,1000}?\bsrc=["'])(?:(?:@site|~)(?=\/))?((?:\/(?!\/)|\.\.\/)[^)\s>"'?#]{1,1000})/g;

/** Pictures from the folder where their program looks for them, if they are not at the place that is written. */
function withPlacedPictures(text: string, { tree, path, unplaced }: Dialect): string {
  return text.replace(picture, (whole, before: string, written: string) => {
    const address = tree.tryPicture(written, path);
    if (address === undefined && written.startsWith('/')) unplaced.add(written);
    return address === undefined ? whole : before + address;
  });
}

/** Without the marks of `raw` that are left in code, in pairs. */
function withoutRaw(text: string): string {
  const ends = text.lastIndexOf('endraw');
  let isOpen = false;
  return ends < 0
    ? text
    : text.replace(/\{%-?\s*(end)?raw\s*-?%\}/g, (mark, end, at) => {
        const isPaired = end ? isOpen : !isOpen && at < ends;
        if (isPaired) isOpen = !end;
        return isPaired ? '' : mark;
      });
}

/** What other programs print of what they are told not to read. */
function withoutEscapes(written: string): string {
  const text = withoutRaw(written);
  if (!/\{\{[<%]\/\*|\\\{\{#|\{\{\{[<%]|;-+8</.test(text)) return text;
  return text
    .replace(/^([ \t]*);(?=-{1,3}8<-)/gm, '$1')
    .replace(/\{\{([<%])\/\*([^\n]{0,1000}?)\*\/([>%])\}\}/g, '{{$1$2$3}}')
    .replace(/\{\{\{([<%][^\n{}]{0,1000}[>%])\}\}\}/g, '{{$1}}')
    .replace(/\\(\{\{#)/g, '$1');
}
