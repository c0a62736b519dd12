/** Text as it may stand in HTML, in an attribute too. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A whole page without scripts: it follows the reader's colours, fits a phone, and prints. */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

/** No page may load, send or be framed by anything but itself. */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
} as const;

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --mark: #2a6df4; }
body { margin: 0; font: 17px/1.6 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.2rem; margin: 2.75rem 0 .5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .5rem 0 1rem; }
a { color: var(--mark); }
code, pre { font: .88em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--soft); padding: .1em .35em; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .85rem 1rem; border-radius: 8px; overflow-x: auto; }
pre code { background: none; padding: 0; }
.method { color: #fff; background: var(--mark); border-radius: 4px; padding: .1em .45em; font-size: .75em; font-weight: 600; vertical-align: .12em; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .93em; }
th, td { text-align: left; vertical-align: top; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
.soft { opacity: .75; }
@media print { body { font-size: 11pt; } main { max-width: none; padding: 0; } }
`;
