import { basename } from 'node:path/posix';
import ignore, { type Ignore } from 'ignore';
import { isRecord } from '../../protocol/base/json.ts';
import { thisPlatform } from '../../protocol/base/platform/folders.ts';
import { parseYamlMap } from '../../protocol/base/yaml.ts';

/** Why a file of Markdown is no document: its name, a line of `.docsignore`, what it is, or where it is. */
export type OmissionReason = 'name' | 'ignored' | 'list' | 'place';

/** Which files and folders are read as documents, as the operator and the authors say. */
export type ServedFiles = ReturnType<typeof createServedFiles>;

/**
 * Throws with a sentence if `.docsignore` has too many lines: to read some of them would publish the rest.
 * @param ignored the text of `.docsignore`
 * @param config the text of Jekyll's `_config.yml`
 * @param docs the only folder with documents, with a final slash; empty for the content folder
 */
export function createServedFiles(ignored: string, config: string, docs: string) {
  const { collections, site } = readConfig(config);
  const lines = ignored.replace(/^\ufeff/, '').split(/\r?\n/);
  if (ignored.length > maxLength || lines.length > maxLines)
    throw new Error(`.docsignore has more than ${maxLines} lines or ${maxLength / 1_024} KB. Shorten it.`);
  const bounded = lines.map(withinBounds);
  const rules: Ignore | undefined =
    ignored.trim() === '' ? undefined : ignore({ ignoreCase: foldsCase }).add(bounded);
  const cut = lines.findIndex((line, at) => line !== bounded[at] && !line.startsWith('#'));
  const message = `Line ${cut + 1} is too long, or has too many wildcards. What is beyond them counts as "*".`;
  return {
    site,
    problems: cut < 0 ? [] : [{ path: '.docsignore', message }],
    /**
     * Undefined if it is read.
     * @param isList whether it is a list of other files, such as the `SUMMARY.md` of a book
     */
    tryReason(
      path: string,
      { isFolder, isList }: { readonly isFolder: boolean; readonly isList: boolean },
    ): OmissionReason | undefined {
      const said = rules?.test(isFolder ? `${path}/` : path);
      if (said?.ignored) return 'ignored';
      if (!said?.unignored && isList) return 'list';
      if (!said?.unignored && partial.test(basename(path)) && !collections.has(path)) return 'name';
      return isFolder || path.startsWith(docs) ? undefined : 'place';
    },
  };
}

/** Parts of pages, which Docusaurus, Jekyll and Quarto do not serve, by the name of the file or the folder. */
const partial = /^_(?!index\.|posts$|drafts$)/;

/** As git does by default where the file system does not distinguish upper and lower case. */
const foldsCase = thisPlatform === 'win32' || thisPlatform === 'darwin';

const maxLength = 65_536;
const maxLines = 1_000;
const maxLine = 200;
const maxSigns = 8;

/**
 * Rules become regular expressions, and the time that one takes grows with each `*` of a name, and with each `**`, as a
 * power does: there may be two of both. A longer rule leaves out more than it says, or serves nothing again.
 */
function withinBounds(line: string): string {
  if (line.startsWith('#')) return '';
  let [signs, stars, deep] = [0, 0, 0];
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '/') stars = 0;
    if (/[*?[]/.test(line[at] ?? '')) signs += 1;
    if (line[at] === '*' && line[at - 1] !== '*') stars += 1;
    if (line.startsWith('**', at) && line[at - 1] !== '*') deep += 1;
    if (at < maxLine && signs <= maxSigns && stars <= 2 && deep <= 2) continue;
    return line.startsWith('!') ? '' : `${line.slice(0, at).replace(/[*\\]+$|\[[^\]]*$/, '')}*`;
  }
  return line;
}

/** Of Jekyll's configuration: the folders of collections, which have a `_` in front, and the texts of the site. */
function readConfig(config: string): { collections: ReadonlySet<string>; site: ReadonlyMap<string, string> } {
  try {
    const values = parseYamlMap(config.slice(0, maxLength), '');
    const { collections } = values;
    const names: readonly unknown[] = Array.isArray(collections)
      ? collections
      : Object.keys(isRecord(collections) ? collections : {});
    const texts = Object.entries(values).flatMap(([name, value]) =>
      typeof value === 'string' && value.length <= maxText && !/[\r\n]/.test(value)
        ? [[name, value] as const]
        : [],
    );
    return { collections: new Set(names.map((name) => `_${String(name)}`)), site: new Map(texts) };
  } catch {
    return { collections: new Set(), site: new Map() };
  }
}

const maxText = 300;
