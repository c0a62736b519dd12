/** What programs run or obey without a question is not for models: version control, and the settings of editors. */
const reserved =
  /^(\.git|\.hg|\.svn|\.jj|\.bzr|\.vscode|\.vscode-server|\.idea|\.vs|\.zed|\.fleet|\.cursor|\.runner|\.runnerignore|\.exrc|\.nvimrc|\.nvim\.lua|\.vimrc)$/;

/** What programs run, or what models and tools obey, once the user starts them. In lower case. */
const decisiveFile =
  /^(package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb|go\.sum|.*\.lock|(gnu)?makefile|.*\.config\..*|pyproject\.toml|setup\.py|conftest\.py|cargo\.toml|build\.rs|cmakelists\.txt|dockerfile(\..*)?|agents\.md|claude\.md)$/;
const decisiveFolder = /^\.(github|husky)$/;

/** Whether the user is asked about each change of a file, in every mode: `name` is its path below the workspace. */
export function decidesWhatRuns(name: string): boolean {
  const parts = name.split('/').map(plainName);
  return decisiveFile.test(parts.at(-1) ?? '') || parts.some((part) => decisiveFolder.test(part));
}

/** The first part of a path that is reserved; undefined if none is. */
export function reservedPart(path: string): string | undefined {
  return path.split(/[/\\]/).find((part) => reserved.test(plainName(part)));
}

/** File systems take some names as the same: in upper case, with marks that nobody sees, or with dots at the end. */
function plainName(part: string): string {
  return part
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/(?<=.)[. ]+$/, '');
}
