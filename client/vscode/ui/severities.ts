/** The numbers of `vscode.InputBoxValidationSeverity`. */
export const severities = { info: 1, warning: 2, error: 3 } as const;
