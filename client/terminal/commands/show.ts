import { formatBytes, showControls, showLine } from '../../../protocol/base/text.ts';
import { type Model, type ShowModelResult, showModelRequest } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { type Product, statusRequest } from '../../../protocol/messages/status.ts';
import { capabilitySources, describeLoading, productName, sourceWords } from '../../shared/words.ts';
import type { CommandContext } from '../cli/command.ts';
import { orNearModels } from '../conversation/chooseModel.ts';
import { withDaemon } from '../daemon/connection.ts';
import { columnsOf, cutTo, padEnd } from '../screen/columns.ts';
import {
  describeCapabilities,
  describeContext,
  describeExpiry,
  describeMemory,
} from '../screen/modelDescription.ts';
import type { Style } from '../screen/output.ts';

/** How many lines of a long text are shown on a screen. */
const firstLines = 8;

/** Everything about one model. */
export async function showModel(context: CommandContext): Promise<number> {
  const { stdout, today } = context.terminal;
  const [model = ''] = context.commandLine.words;
  return withDaemon(context, {}, async (daemon) => {
    const result = await orNearModels(daemon, model, daemon.request(showModelRequest, { model }));
    const { product, can } = await daemon.request(statusRequest, { server: result.model.server });
    const look = {
      style: stdout.style,
      today: today(),
      canUnload: can?.includes('unload') ?? true,
      ...(stdout.isScreen ? { columns: stdout.columns } : {}),
    };
    if (context.commandLine.json) await stdout.writeJson({ ...result, ...(product && { product }) });
    else await stdout.write(describeModel(result, { ...look, ...(product && { product }) }));
    return 0;
  });
}

interface ModelLook {
  readonly style: Style;
  readonly today: Date;
  readonly canUnload: boolean;
  /** What serves the model, if that is known. */
  readonly product?: Product;
  /** The width of a screen, where long texts are cut. Absent elsewhere. */
  readonly columns?: number;
}

function describeModel(result: ShowModelResult, look: ModelLook): string {
  const { model, parameters = {}, system, template, license } = result;
  const values = Object.entries(parameters).flatMap(([name, value]) =>
    [value].flat().map((one): Fact => [name, String(one)]),
  );
  const sections = [
    look.style.bold(showLine(model.name)),
    describeFacts(factsOf(model, look)),
    section('Parameters', values.length === 0 ? '' : describeFacts(values), look),
    section('System', showText(system, look), look),
    section('Template', showText(template, look), look),
    section('License', showText(license, look), look),
  ];
  return sections.filter((text) => text !== '').join('\n') + '\n';
}

type Fact = readonly [name: string, value: string];

function factsOf(model: Model, look: ModelLook): readonly Fact[] {
  const { product } = look;
  const { family, server, size, details, remote, running, loading } = model;
  const window = describeContext(model);
  const loaded = loading ? describeLoading(loading) : running ? describeRunning(running, look) : 'no';
  const facts: readonly Fact[] = [
    ['server', server === defaultServerName ? '' : server],
    ['family', [family, details?.family].filter(isNews).join(', ')],
    ['size', size === undefined || remote ? '' : formatBytes(size)],
    ['parameters', [details?.parameterSize, details?.quantization].filter(isNews).join(', ')],
    ['can', describeCapabilities(model)],
    ['context', window && `${window} tokens`],
    ['learnt', describeSources(model)],
    ['runs at', remote ? `${remote.host} as ${remote.model}` : ''],
    ['served by', productName(product)],
    ['loaded', remote ? '' : loaded],
  ];
  return facts.filter(([, value]) => value !== '');
}

/** Where those facts were learnt that the server does not say. */
function describeSources(model: Model): string {
  const { from } = model.context;
  const facts = capabilitySources(model).flatMap(([word, from]) =>
    from === 'server' ? [] : [`${word} ${sourceWords[from]}`],
  );
  const window = from === undefined || from === 'server' ? [] : [`context ${sourceWords[from]}`];
  return [...facts, ...window].join(', ');
}

/** Whether it is known, and not the same as one before. */
function isNews(text: string | undefined, index: number, all: readonly (string | undefined)[]): boolean {
  return text !== undefined && text !== '' && all.indexOf(text) === index;
}

function describeRunning(
  running: NonNullable<Model['running']>,
  { today, canUnload }: Pick<ModelLook, 'today' | 'canUnload'>,
): string {
  const facts = [describeMemory(running) || 'yes', describeExpiry(running, today, canUnload)];
  return facts.filter((fact) => fact !== '').join(', ');
}

function describeFacts(facts: readonly Fact[]): string {
  const shown = facts.map(([name, value]): Fact => [showLine(name), showLine(value)]);
  const width = Math.max(...shown.map(([name]) => columnsOf(name)));
  return shown.map(([name, value]) => `  ${padEnd(name, width)}  ${value}`).join('\n');
}

function section(title: string, text: string, { style }: ModelLook): string {
  return text === '' ? '' : `\n${style.bold(title)}\n${text}`;
}

/** Indented. On a screen only the first lines, each as far as it fits. */
function showText(text: string | undefined, { style, columns }: ModelLook): string {
  const lines = showControls(text ?? '')
    .trim()
    .split('\n');
  if (lines.join('') === '') return '';
  const shown = columns === undefined || lines.length <= firstLines + 1 ? lines : lines.slice(0, firstLines);
  const fitted = shown.map((line) =>
    `  ${columns === undefined ? line : cutTo(line.replaceAll('\t', '  '), columns - 3)}`.trimEnd(),
  );
  const more = lines.length - shown.length;
  return [...fitted, ...(more > 0 ? [style.dim(`  … ${more} more lines`)] : [])].join('\n');
}
