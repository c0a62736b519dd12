import type { PracticeModel } from './model.ts';

const template = '{{ if .System }}{{ .System }}\n{{ end }}{{ range .Messages }}{{ .Content }}\n{{ end }}';

/** Editors send dozens of tools. A model that only quotes need not refuse them for their length. */
const window = { contextLength: 131_072, parameters: { num_ctx: 131_072 } };

/** The models that a newcomer finds installed. Their names say what they are. */
export const practiceModels: readonly PracticeModel[] = [
  {
    name: 'practice:latest',
    description:
      'Quotes the documents of this project; thinks, calls tools and completes words. No language model.',
    capabilities: ['completion', 'tools', 'insert', 'thinking'],
    ...window,
    template: `${template}{{ if .Suffix }}{{ .Prompt }}{{ .Suffix }}{{ end }}{{ .Tools }}{{ .Think }}`,
  },
  {
    name: 'practice-plain:latest',
    description: 'Quotes the documents of this project and does nothing else. No language model.',
    capabilities: ['completion'],
    ...window,
    template,
  },
];

/** The models that a newcomer can pull. They are small enough to watch a download from start to end. */
export const practiceCatalog: readonly PracticeModel[] = [
  ...practiceModels,
  {
    name: 'practice-guest:latest',
    description: 'A model to pull, run, stop and delete. It too only quotes documents.',
    capabilities: ['completion', 'tools'],
    size: 8 * 1024 * 1024,
    template,
    license: ['MIT'],
    ...window,
  },
];
