import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../protocol/base/errorText.ts';
import type { Notice } from '../../../protocol/messages/chat.ts';
import { readRegularBytes } from '../../base/regularFile.ts';
import type { ProjectRules, RulesFile } from '../../chat/projectRules.ts';
import { isMade } from '../../files/folderFiles.ts';
import { decodeText, readFile } from './fileStore.ts';
import { FileProblemError, type Workspace, type WorkspacePlace } from './workspace.ts';

/** The settings that decide which rules are read. */
export interface RulesSettings {
  readonly projectRules: boolean;
  /** Whether the user trusts the workspace. */
  readonly trusted: boolean;
}

export type RulesFiles = ReturnType<typeof createRulesFiles>;

interface RulesFilesOptions {
  readonly workspace: () => Promise<Workspace>;
  /** Absent: no rules are read. */
  readonly settings?: (() => RulesSettings) | undefined;
  /** The folder of the user's own configuration. */
  readonly userFolder?: string | undefined;
}

/** In a folder, the first of them that is there counts. */
const names = ['AGENTS.md', 'CLAUDE.md'];
/** Larger files are not made by hand. */
const maxBytes = 1024 * 1024;
/** How many conversations are remembered. The one that was used longest ago is forgotten first. */
const maxConversations = 256;

/** The files in which a project and its user say how models should work. */
export function createRulesFiles({ workspace, settings, userFolder }: RulesFilesOptions) {
  const conversations = new Map<string, Set<string>>();
  const knownIn = (session: string) => {
    const known = conversations.get(session) ?? new Set();
    conversations.delete(session);
    conversations.set(session, known);
    const [oldest] = conversations.keys();
    if (conversations.size > maxConversations && oldest !== undefined) conversations.delete(oldest);
    return known;
  };

  return {
    /** Those of the project's own folder, and those of the user. Undefined if nobody wants them. */
    async read(): Promise<ProjectRules | undefined> {
      if (!settings?.().projectRules) return undefined;
      const opened = await workspace();
      const place = await rulesIn(opened.folders[0] ?? '', opened);
      const own = userFolder === undefined ? undefined : await userRules(join(userFolder, 'AGENTS.md'));
      const ofProject = place && (settings().trusted ? await projectRules(place) : untrusted(place));
      const read = [ofProject, own].filter((one) => one !== undefined);
      return {
        files: read.filter((one) => 'text' in one).filter(({ text }) => text.trim() !== ''),
        notices: read.filter((one) => 'code' in one),
      };
    },

    /** A note below a file of a folder that has rules of its own. Without a session, it stands below each file. */
    async noteFor(file: WorkspacePlace, session: string | undefined): Promise<string> {
      const { projectRules, trusted } = settings?.() ?? { projectRules: false, trusted: false };
      if (!projectRules || !trusted || isMade(file.name)) return '';
      const opened = await workspace();
      const rules = await nearestRules(file, opened);
      if (!rules) return '';
      const known = session === undefined ? new Set() : knownIn(session);
      const isNews = !known.has(rules.path) && rules.path !== file.path;
      known.add(rules.path);
      return isNews ? `\n[${opened.pathOf(rules)} has rules for this folder.]` : '';
    },
  };
}

/** Those of the project's own folder are in the system message. */
async function nearestRules(file: WorkspacePlace, opened: Workspace): Promise<WorkspacePlace | undefined> {
  for (let folder = dirname(file.path); folder !== opened.folders[0]; folder = dirname(folder)) {
    const rules = await rulesIn(folder, opened);
    if (rules || folder === file.root) return rules;
  }
  return undefined;
}

/** Undefined if a folder has none, or none that models may read. */
async function rulesIn(folder: string, { find }: Workspace): Promise<WorkspacePlace | undefined> {
  for (const name of names) {
    const path = join(folder, name);
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) continue;
    const place = await find(path).catch((error: unknown) => {
      if (error instanceof FileProblemError) return undefined;
      throw error;
    });
    if (place?.path === real && !place.isFolder) return place;
  }
  return undefined;
}

async function projectRules({ path, name }: WorkspacePlace): Promise<RulesFile | Notice> {
  try {
    return { of: 'project', name, text: decodeText(await readFile(path, maxBytes)).text };
  } catch (error) {
    return unreadable(name, error);
  }
}

/** Undefined if there are none. */
async function userRules(path: string): Promise<RulesFile | Notice | undefined> {
  try {
    return { of: 'user', name: path, text: decodeText(await readRegularBytes(path, maxBytes)).text };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : unreadable(path, error);
  }
}

function unreadable(name: string, error: unknown): Notice {
  const why = messageOf(error).replace(/\.$/, '');
  return { code: 'rules-cut', message: `The rules in ${name} are left out: ${why}.` };
}

function untrusted({ name }: WorkspacePlace): Notice {
  return {
    code: 'rules-untrusted',
    message: `The rules in ${name} are left out, because this workspace is not trusted.`,
  };
}
