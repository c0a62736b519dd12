import { decodeEntities } from '../../search/plainText.ts';
import { allowedAttributes, allowedTags } from './rawHtml.ts';

/**
 * Whether HTML that a reader made of Markdown has only elements, attributes and schemes that are allowed. The HTML is
 * held against the one form that a harmless tag has, and never parsed. So nobody can find more in it than this does.
 */
export function isHarmlessHtml(html: string): boolean {
  for (const [, name, attributes] of html.matchAll(tag)) if (!isHarmlessTag(name, attributes)) return false;
  return true;
}

/** The text with every tag escaped that is not harmless. Marks that only look like one in Markdown are escaped too. */
export function escapeActiveTags(text: string): string {
  return text.replace(tag, (whole: string, name?: string, attributes?: string) =>
    isHarmlessTag(name, attributes) ? whole : `&lt;${whole.slice(1)}`,
  );
}

/** Whether no browser, editor or mail program runs something when a reader follows the address. */
export function isHarmlessAddress(href: string): boolean {
  const address = decodeEntities(href).replace(/[\u0000-\u0020\u007f-\u00a0]/g, '');
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(address) ?? [];
  return (
    scheme === undefined ||
    schemes.has(scheme.toLowerCase()) ||
    /^data:image\/(?:png|jpeg|gif|webp)[;,]/i.test(address)
  );
}

/** Everything that a browser may take for a tag; the name is missing if it has another form. */
const tag = /<(?=[a-z/!?])(?:\/?([a-z][a-z0-9]*)((?: [a-z]+(?:="[^"<>]*")?)*) ?\/?>)?/gi;
const attribute = / ([a-z]+)(?:="([^"]*)")?/gi;

/** Readers print a box for a task, and their own elements for what is crossed out. */
const elements: ReadonlySet<string> = new Set([...allowedTags, 'input']);

const schemes: ReadonlySet<string> = new Set(
  'http https mailto ftp tel sms xmpp irc ircs docs vscode vscode-insiders cursor zed jetbrains'.split(' '),
);

function isHarmlessTag(name = '', attributes = ''): boolean {
  return (
    elements.has(name.toLowerCase()) &&
    [...attributes.matchAll(attribute)].every(([, key = '', value = '']) =>
      isHarmlessAttribute(name, key, value),
    )
  );
}

function isHarmlessAttribute(name: string, key: string, value: string): boolean {
  if (key === 'href' || key === 'src') return isHarmlessAddress(value) && isAllowed(name, key);
  return isAllowed(name, key) || (printed[`${name} ${key}`]?.test(value) ?? false);
}

function isAllowed(name: string, key: string): boolean {
  return allowedAttributes[name]?.includes(key) ?? false;
}

/** What readers print by themselves, and no author may write. */
const printed: Readonly<Record<string, RegExp>> = {
  'code class': /^language-/,
  'input type': /^checkbox$/,
  'input checked': /^$/,
  'input disabled': /^$/,
  'td style': /^text-align:(?:left|center|right)$/,
  'th style': /^text-align:(?:left|center|right)$/,
};
