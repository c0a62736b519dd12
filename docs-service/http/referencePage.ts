import { escapeHtml, page } from './pages.ts';
import type { Services } from './services.ts';

/** The parts of an OpenAPI document that the page shows. */
interface OpenApi {
  readonly info: { readonly version: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly schema?: Schema;
  }[];
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** The reference for people, made from the same description as `openapi.json`. It shows no data. */
export function createReferencePage(description: object, { baseUrl, site, issuer }: Services): string {
  const isServer = issuer === baseUrl.href;
  // @fastify/swagger made it from the schemas of this service.
  const { info, paths = {}, components } = description as OpenApi;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'head')
      .map(([method, operation]) => operationSection(method, site.root + path, operation)),
  );
  const schemas = Object.entries(components?.schemas ?? {}).map(([name, schema]) =>
    schemaSection(name, schema),
  );
  return page({
    site,
    title: 'Reference',
    place: 'reference',
    hasLibrary: isServer,
    body: `<div class="ruled"><h1>Reference</h1>
<p>Version ${escapeHtml(info.version)}. Every address under <code>${site.root}/api/v1</code> needs a token, which
${isServer ? '<code>runner-docs token create</code> makes' : `${escapeHtml(issuer)} gives`}. Every error is a problem: a JSON object with a sentence in
<code>detail</code>. <code>HEAD</code> works wherever <code>GET</code> does, and answers have an <code>ETag</code>.</p>
<pre tabindex="0"><code>curl -H "Authorization: Bearer $TOKEN" ${escapeHtml(baseUrl.href)}/api/v1/docs</code></pre>
<p>For programs: <code>${site.root}/api/v1/openapi.json</code>.</p>
${operations.join('\n')}
${schemas.join('\n')}</div>`,
  });
}

function operationSection(method: string, path: string, operation: Operation): string {
  const { summary = path, description, parameters = [], responses = {}, security } = operation;
  return `<h2>${escapeHtml(summary)}</h2>
<p><span class="method">${escapeHtml(method.toUpperCase())}</span> <code>${escapeHtml(path)}</code>${security?.length === 0 ? ' <span class="soft">open to all</span>' : ''}</p>
${description === undefined ? '' : `<p>${inline(description)}</p>`}
${
  parameters.length === 0
    ? ''
    : table(
        ['Parameter', 'Type', 'Meaning'],
        parameters.map((one) => [
          `<code>${escapeHtml(one.name)}</code>`,
          typeOf(one.schema ?? {}),
          inline(meaningOf(one.description, one.schema ?? {})),
        ]),
      )
}
<p>${answers(responses)}</p>`;
}

function answers(responses: NonNullable<Operation['responses']>): string {
  const statuses = Object.entries(responses).map(([status, { content = {} }]) => ({
    status: `<code>${escapeHtml(status)}</code>`,
    type: Object.keys(content)[0],
  }));
  const isProblem = (type: string | undefined) => type === 'application/problem+json';
  const good = statuses.filter(({ type }) => !isProblem(type));
  const problems = statuses.filter(({ type }) => isProblem(type)).map(({ status }) => status);
  const answered = good.map(({ status, type }) =>
    type === undefined ? status : `${status} ${escapeHtml(type)}`,
  );
  const sentence = (what: string, list: readonly string[]) =>
    list.length === 0 ? [] : [`${what}: ${list.join(', ')}.`];
  return [...sentence('Answers', answered), ...sentence('Problems', problems)].join(' ');
}

function schemaSection(name: string, { description, properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([key, schema]) => [
    `<code>${escapeHtml(key)}</code>${required.includes(key) ? '' : ' <span class="soft">optional</span>'}`,
    typeOf(schema),
    inline(meaningOf(schema.description, schema)),
  ]);
  return `<h2 id="${escapeHtml(name)}">${escapeHtml(name)}</h2>
${description === undefined ? '' : `<p>${inline(description)}</p>`}
${table(['Field', 'Type', 'Meaning'], rows)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]) => row.map((cell) => `<td>${cell}</td>`).join('');
  return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head.map((cell) => `<th scope="col">${cell}</th>`).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${cells(row)}</tr>`).join('')}</tbody></table></div>`;
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = escapeHtml(schema.$ref.split('/').at(-1) ?? '');
    return `<a href="#${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items ?? {})}`;
  return escapeHtml(schema.type ?? 'any');
}

function meaningOf(description: string | undefined, { default: usual, minimum, maximum }: Schema): string {
  const bounds = [
    usual === undefined ? '' : `Default \`${JSON.stringify(usual)}\`.`,
    minimum === undefined || minimum === 0 ? '' : `At least ${minimum}.`,
    maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? '' : `At most ${maximum}.`,
  ];
  return [description ?? '', ...bounds].filter(Boolean).join(' ');
}

/** Formats text between backquotes as code. */
function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, (_all, code: string) => `<code>${code}</code>`);
}
