import { type Commands, listedCommands } from './command.ts';

/** What `--help` shows. */
export function helpText(commands: Commands, version: string): string {
  const listed = listedCommands(commands).map(([, command]) => command);
  const width = Math.max(...listed.map(({ usage }) => usage.length));
  const groups = [...new Set(listed.map(({ group }) => group))].map((title) => {
    const rows = listed
      .filter(({ group }) => group === title)
      .map(({ usage, summary }) => `  runner ${usage.padEnd(width)}  ${summary}`);
    return [title, ...rows].join('\n');
  });
  return `runner ${version}: talk to the language models on your machine

${groups.join('\n\n')}

Without a command, "runner" opens the conversation.

Flags
  -m, --model M     the model to talk to; else the one that is loaded, else the newest
  --continue        "chat" goes on with the last conversation of this folder
  --session ID      "chat" goes on with this conversation
  --markdown        "sessions show" prints Markdown
  --all             "sessions rm" deletes all of them
  -f, --file FILE   the Modelfile of "create"; - is standard input; else ./Modelfile
  -y, --yes         "rm" and "sessions rm" do not ask
  --keep-alive D    how long "run" keeps the model loaded, such as 10m; negative is for ever
  --cloud           "library" lists the cloud models
  --refresh         "library" asks the catalog, whatever is known
  --server URL      the runner to talk to; else OLLAMA_HOST, else http://127.0.0.1:11434
  --practice        the built-in practice runner answers, which is no language model
  --json            one JSON object a line on standard output
  --version, --help
`;
}
