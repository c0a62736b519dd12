import * as fc from 'fast-check';
import t from 'tap';
import { toModelfile } from '../../client/vscode/modelfile/modelfileContent.ts';
import { parseModelfile } from '../../daemon/modelfile/parser.ts';

/** What the runner's grammar makes of it. */
function read(text: string) {
  const { commands, problems, isCut } = parseModelfile(text);
  const errors = problems.filter(({ severity }) => severity === 'error');
  return { isCut, errors, values: commands.map(({ name, args }) => [name, ...args.map((arg) => arg.text)]) };
}

t.test('a new Modelfile has the given base, prompt and parameters', async (t) => {
  const cases: readonly (readonly [name: string, system: string, want: string | undefined])[] = [
    ['nothing', '', undefined],
    ['a sentence', 'You are terse.', 'You are terse.'],
    ['lines', 'One.\r\nTwo.\n\n# Three.', 'One.\nTwo.\n\n# Three.'],
    ['a command', 'Say\nFROM here\nPARAMETER x 1', 'Say\nFROM here\nPARAMETER x 1'],
    ['a quote at either end', '"hi"', '"hi"'],
    ['triple quotes', '"""', '"""'],
    ['triple quotes at either end', '"""doc"""', '"""doc"""'],
    ['triple quotes within a line', 'Write """ so\nand on', 'Write """ so\nand on'],
    ['triple quotes that end a line', 'Write """\nand """ \t\n\n  so', 'Write """ and """ so'],
    ['many quotes', '"""""""\n""""', '""""""" """"'],
    ['quotes before an odd line end', 'a"""\u0085\nb', 'a""" b'],
    ['a template', '{{ .System }}', '{{ .System }}'],
  ];
  for (const [name, system, want] of cases) {
    const { isCut, errors, values } = read(toModelfile({ base: 'qwen3:8b', system, parameters: {} }));
    t.strictSame([isCut, errors], [false, []], name);
    t.strictSame(values, [['from', 'qwen3:8b'], ...(want === undefined ? [] : [['system', want]])], name);
  }
});

t.test('the base of a new Modelfile', async (t) => {
  const bases = [
    'qwen3:8b',
    '/home/a b/model.gguf',
    'C:\\models\\m.gguf',
    '"odd".gguf',
    ' blank.gguf ',
    '/a\nb.gguf',
  ];
  for (const base of bases) {
    const { errors, values } = read(toModelfile({ base, system: '', parameters: {} }));
    t.strictSame([errors, values], [[], [['from', base]]], base);
  }
  t.equal(toModelfile({ base: 'm', system: '', parameters: {} }), 'FROM m\n');
  t.equal(
    toModelfile({ base: 'm', system: 'S', parameters: { temperature: 0.2, num_ctx: 8192 } }),
    'FROM m\n\nSYSTEM """S"""\n\nPARAMETER temperature 0.2\nPARAMETER num_ctx 8192\n',
  );
});

t.test('any prompt is preserved, except for a line end after triple quotes', async () => {
  const text = fc.string({
    unit: fc.constantFrom('"', '""', '"""', '\n', ' ', 'a', '#', '\u00a0', '\ufeff'),
  });
  fc.assert(
    fc.property(text, (system) => {
      const { errors, isCut, values } = read(toModelfile({ base: 'm', system, parameters: { seed: 1 } }));
      const without = (all: string) => all.replace(/[\s\u0085]/g, '');
      const [, value = ''] = values.find(([name]) => name === 'system') ?? [];
      return (
        !isCut &&
        errors.length === 0 &&
        without(value) === without(system) &&
        values.at(-1)?.[0] === 'parameter'
      );
    }),
  );
});
