/** The command of each inline-completion item; the editor runs it after an acceptance, and the daemon executes it. */
export const completionAcceptedCommand = 'runner.completion.accepted';

/** The lifecycle as `workspace/executeCommand`, each with `[{ model, server? }]`, for editors that send nothing else. */
export const lifecycleCommands = {
  pull: 'runner.models.pull',
  run: 'runner.models.run',
  stop: 'runner.models.stop',
  delete: 'runner.models.delete',
} as const;
