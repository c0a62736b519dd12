import { slug } from 'github-slugger';
import type { Dialect } from './dialect.ts';

/** A line with links in place of `[[name]]`, and pictures in place of `![[picture.png]]`. */
export function withPlainWikilinks(text: string, dialect: Dialect, line: number): string {
  const { tree, path } = dialect;
  const code = text.replace(/(?<!`)(`+)(?!`)[^`]+\1(?!`)/g, (whole) => '\0'.repeat(whole.length));
  let at = 0;
  const out: string[] = [];
  for (const found of code.matchAll(wikilink)) {
    const [whole, bang, first = '', second] = found;
    out.push(text.slice(at, found.index));
    at = found.index + whole.length;
    const [name = '', ...fragments] = first.trim().replace(/\\$/, '').split('#');
    const own = name === '' ? path : tree.tryNamed(name, path);
    // GitHub's wikis have the text first.
    const swapped =
      own === undefined && second !== undefined ? tree.tryNamed(second.trim(), path) : undefined;
    const target = own ?? swapped;
    const shown = swapped !== undefined ? first : second;
    const fragment = fragments.at(-1)?.replace(/^\^/, '');
    if (target === undefined) {
      if (tree.isVault) dialect.note('wikilink', whole, line);
      if (tree.isVault) dialect.unnamed.add(name);
      out.push(tree.isVault ? (bang ? '' : labelOf(first, second)) : whole);
    } else if (bang && /\.(?:png|jpe?g|gif|webp|svg|avif|bmp)$/i.test(target)) {
      const alt = second !== undefined && !/^\d+(?:x\d+)?$/.test(second.trim()) ? second : '';
      out.push(`![${alt}](${addressOf(target)})`);
    } else {
      const place = fragment === undefined ? '' : `#${encodeURIComponent(slug(fragment.trim()))}`;
      const address = name === '' ? place : addressOf(target, place);
      out.push(`[${labelOf(first, shown)}](${address})`);
    }
  }
  return out.join('') + text.slice(at);
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
