import { dirname, join } from 'node:path';
import { messageOf } from '../../../protocol/base/text.ts';
import type { Notice } from '../../../protocol/messages/chat.ts';
import { readRegularBytes } from '../../base/regularFile.ts';
import type { ProjectRules, RulesFile } from '../../chat/projectRules.ts';
import { isMade } from '../../files/folderFiles.ts';
import { decodeText, readFile } from './fileStore.ts';
import type { ProjectFile, Workspace, WorkspacePlace } from './workspace.ts';

/** The settings that decide which rules are read. */
export interface RulesSettings {
  readonly projectRules: boolean;
  /** Whether the user trusts the workspace. */
  readonly trusted: boolean;
}

export type RulesFiles = ReturnType<typeof createRulesFiles>;

interface RulesFilesOptions {
  readonly workspace: Workspace;
  /** Absent: no rules are read. */
  readonly settings?: (() => RulesSettings) | undefined;
  /** The folder of the user's own configuration. */
  readonly userFolder?: string | undefined;
}

/** In a folder, the first of them that is there counts. */
const names = ['AGENTS.md', 'CLAUDE.md'];
/** Larger files are not made by hand. */
const maxBytes = 1024 * 1024;
/** How often it is remembered that a conversation knows some rules. With more, all are named once more. */
const maxKnown = 1_000;

/** The files in which a project and its user say how models should work. */
export function createRulesFiles({ workspace, settings, userFolder }: RulesFilesOptions) {
  /** The sessions with the paths of the rules that they know. */
  const known = new Set<string>();

  return {
    /** Those of the project's own folder, and those of the user. Undefined if nobody wants them. */
    async read(): Promise<ProjectRules | undefined> {
      const { projectRules = false, trusted = false } = settings?.() ?? {};
      if (!projectRules) return undefined;
      const files: RulesFile[] = [];
      const notices: Notice[] = [];
      const take = async (
        of: RulesFile['of'],
        { name, path }: ProjectFile,
        read: typeof readRegularBytes,
      ) => {
        try {
          const { text } = decodeText(await read(path, maxBytes));
          if (text.trim() !== '') files.push({ of, name, text });
        } catch (error) {
          if (/^(ENOENT|ENOTDIR)$/.test(String((error as NodeJS.ErrnoException).code))) return;
          const why = messageOf(error).replace(/\.$/, '');
          notices.push({ code: 'rules-cut', message: `The rules in ${name} are left out: ${why}.` });
        }
      };
      const [folder = ''] = await workspace.folders();
      const place = await rulesIn(folder, workspace);
      if (place && trusted) await take('project', place, readFile);
      else if (place)
        notices.push({
          code: 'rules-untrusted',
          message: `The rules in ${place.name} are left out, because this workspace is not trusted.`,
        });
      const own = userFolder && join(userFolder, 'AGENTS.md');
      if (own) await take('user', { name: own, path: own }, readRegularBytes);
      return { files, notices };
    },

    /** A note below a file of a folder that has rules of its own. Without a session, it stands below each file. */
    async noteFor(file: WorkspacePlace, session: string | undefined): Promise<string> {
      const { projectRules = false, trusted = false } = settings?.() ?? {};
      const isWanted = projectRules && trusted && !isMade(file.name);
      const rules = isWanted ? await nearestRules(file, workspace) : undefined;
      if (!rules) return '';
      const key = `${session}\n${rules.path}`;
      const isNews = rules.path !== file.path && (session === undefined || !known.has(key));
      if (known.size >= maxKnown) known.clear();
      known.add(key);
      return isNews ? `\n[${rules.given} has rules for this folder.]` : '';
    },
  };
}

/** Those of the project's own folder are in the system message. */
async function nearestRules(file: WorkspacePlace, workspace: Workspace): Promise<WorkspacePlace | undefined> {
  const [first] = await workspace.folders();
  for (let folder = dirname(file.path); folder !== first; folder = dirname(folder)) {
    const rules = await rulesIn(folder, workspace);
    if (rules || folder === file.root) return rules;
  }
  return undefined;
}

/** Undefined if a folder has none, or none that models may read. */
async function rulesIn(folder: string, workspace: Workspace): Promise<WorkspacePlace | undefined> {
  for (const name of names) {
    const place = await workspace.tryFindNamed(join(folder, name));
    if (place?.isThere && !place.isFolder) return place;
  }
  return undefined;
}
