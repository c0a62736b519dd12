/**
 * The names of the elements in which editors wrap what they put before the user's own words. This is the only such
 * list: leading blocks of these names become the system message (`context: "leading"`), and blocks of these names that
 * repeat what was sent are removed from an answer.
 */
export const contextTags: readonly string[] = [
  'attachment',
  'attachments',
  'codebase_context',
  'context',
  'editorContext',
  'editor_context',
  'environment_info',
  'file_context',
  'reminderInstructions',
  'repo_context',
  'selection',
  'user_info',
  'vscode_context',
  'workspace_info',
];
