import { slug } from 'github-slugger';
import { replaceParts } from '../markdownLines.ts';
import type { Dialect } from './dialect.ts';

/** A line with links in place of `[[name]]`, and pictures in place of `![[picture.png]]`. */
export function withPlainWikilinks(text: string, dialect: Dialect, line: number): string {
  const { tree, path } = dialect;
  const code = text.replace(/(?<!`)(`+)(?!`)[^`]+\1(?!`)/g, (whole) => '\0'.repeat(whole.length));
  const plain = ({ 0: whole, 1: bang, 2: first = '', 3: second }: RegExpExecArray): string => {
    const [name = '', ...fragments] = first.trim().replace(/\\$/, '').split('#');
    const own = name === '' ? path : tree.tryNamed(name, path);
    // GitHub's wikis have the text first.
    const swapped =
      own === undefined && second !== undefined ? tree.tryNamed(second.trim(), path) : undefined;
    const target = own ?? swapped;
    const shown = swapped !== undefined ? first : second;
    const fragment = fragments.at(-1)?.replace(/^\^/, '');
    if (target === undefined) {
      if (!tree.isVault) return whole;
      dialect.note('wikilink', whole, line);
      dialect.unnamed.add(name);
      return bang ? '' : labelOf(first, second);
    }
    if (bang && /\.(?:png|jpe?g|gif|webp|svg|avif|bmp)$/i.test(target)) {
      const alt = second !== undefined && !/^\d+(?:x\d+)?$/.test(second.trim()) ? second : '';
      return `![${alt}](${addressOf(target)})`;
    }
    const place = fragment === undefined ? '' : `#${encodeURIComponent(slug(fragment.trim()))}`;
    return `[${labelOf(first, shown)}](${name === '' ? place : addressOf(target, place)})`;
  };
  return replaceParts(
    text,
    wikilink,
    (found) => ({ end: found.index + found[0].length, text: plain(found) }),
    code,
  );
}

const wikilink = /(!?)\[\[([^[\]\n|\0]{1,300})(?:\|([^[\]\n\0]{0,300}))?\]\](?!\()/g;

function labelOf(target: string, text: string | undefined): string {
  if (text !== undefined && text.trim() !== '') return text.trim();
  const parts = target
    .trim()
    .split('#')
    .map((part) => part.replace(/^\^/, '').trim());
  return parts.filter(Boolean).join(' > ');
}

function addressOf(path: string, fragment = ''): string {
  return `/${path
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/[()]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`))
    .join('/')}${fragment}`;
}
