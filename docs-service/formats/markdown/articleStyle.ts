import { codeRules, codeVariables, darkPalette, lightPalette } from './codeColouring.ts';

/**
 * The look of a document in a browser: in the reading pages, and alone. Colours follow the reader's settings; a page
 * may override the variables.
 */
export const articleStyle = `
:root {
  color-scheme: light dark;
  --paper: #fcfbf8; --raised: #fff; --soft: #f3f1eb; --line: #dfdbd1; --edge: #8b867a;
  --ink: #22252a; --quiet: #5b5f66; --accent: #0b6360; --accent-soft: #e2efec; --found: #fbe7a1;
  --warn: #8a3b12; --warn-soft: #fbeee3; --stop: #a3262f;
  ${codeVariables(lightPalette)}
  --measure: 56ch;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181a; --raised: #1c2023; --soft: #22272a; --line: #343a3e; --edge: #7e868b;
    --ink: #dcdfdd; --quiet: #a0a6a8; --accent: #7fcbc1; --accent-soft: #1d3533; --found: #5c4a12;
    --warn: #f0b48c; --warn-soft: #35241a; --stop: #f49a9d;
    ${codeVariables(darkPalette)}
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 1.5rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.65 var(--sans); overflow-wrap: break-word; }
a { color: var(--accent); text-decoration: underline; text-decoration-thickness: .07em; text-underline-offset: .2em; }
a:hover { text-decoration-thickness: .14em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 3px; }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; font-weight: 680; letter-spacing: -.012em; text-wrap: balance; margin: 2.2em 0 .6em; }
h1 { font-size: clamp(1.75rem, 1.3rem + 2vw, 2.35rem); line-height: 1.15; letter-spacing: -.022em; margin: 0 0 .5em; }
h2 { font-size: 1.45rem; }
h3 { font-size: 1.17rem; margin-top: 1.9em; }
h4, h5, h6 { font-size: 1rem; margin-top: 1.7em; }
h1 + h2, h2 + h3, h3 + h4 { margin-top: 1em; }
p, ul, ol, dl, pre, blockquote, details, .table { margin: 0 0 1.15em; }
p, li { text-wrap: pretty; }
ul, ol { padding-inline-start: 1.5em; }
li { margin: .3em 0; }
li > ul, li > ol, li > p { margin-bottom: .4em; }
li::marker { color: var(--quiet); }
li.task { list-style: none; }
li.task > [role=img]:first-child, li.task > p:first-child > [role=img]:first-child { display: inline-block; width: 1.35em; margin-inline-start: -1.35em; }
code, kbd, samp, pre { font-family: var(--mono); font-size: .875em; }
code { background: var(--soft); border-radius: 4px; padding: .12em .35em; overflow-wrap: anywhere; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1.1rem; line-height: 1.55; overflow-x: auto; tab-size: 4; direction: ltr; text-align: left; }
pre code { background: none; padding: 0; font-size: 1em; overflow-wrap: normal; }
${codeRules((kind) => `var(--tok-${kind})`)}
kbd { border: 1px solid var(--edge); border-bottom-width: 2px; border-radius: 4px; padding: .05em .4em; background: var(--raised); }
blockquote { margin-inline: 0; padding-inline-start: 1.1em; border-inline-start: 3px solid var(--line); color: var(--quiet); }
blockquote > :last-child, details > :last-child, .alert > :last-child, figure > :last-child { margin-bottom: 0; }
.alert { --tone: var(--accent); margin: 0 0 1.15em; padding: .7rem 1.1rem; border-inline-start: 3px solid var(--tone); border-start-end-radius: 8px; border-end-end-radius: 8px; background: color-mix(in srgb, var(--tone) 6%, var(--paper)); }
.alert.warning { --tone: var(--warn); }
.alert.caution { --tone: var(--stop); }
.alert .label { margin: 0 0 .25em; color: var(--tone); font-weight: 650; }
figure { margin: 0 0 1.15em; }
figcaption { margin: 0 0 .35em; color: var(--quiet); font-size: .88em; }
.table { overflow-x: auto; width: fit-content; max-width: 100%; }
table { border-collapse: collapse; font-size: .94em; line-height: 1.5; font-variant-numeric: tabular-nums; }
th, td { text-align: start; vertical-align: top; padding: .55rem 1.1rem .55rem 0; border-bottom: 1px solid var(--line); overflow-wrap: normal; }
th { font-weight: 650; border-bottom: 2px solid var(--edge); }
td code, th code { overflow-wrap: normal; }
.align-center { text-align: center; }
.align-right { text-align: end; }
img { max-width: 100%; height: auto; border-radius: 6px; vertical-align: middle; }
.missing-picture { color: var(--quiet); font-style: italic; }
.missing-picture::before { content: "\\25A1\\A0"; }
hr { border: 0; border-top: 1px solid var(--line); margin: 2.5em auto; width: 40%; }
mark { background: var(--found); color: inherit; border-radius: 3px; padding: 0 .1em; }
sup, sub { font-size: .75em; line-height: 0; }
sup a { padding: .3em .1em; text-decoration: none; }
summary { font-weight: 600; cursor: pointer; }
.footnotes { margin-top: 3em; padding-top: 1.2em; border-top: 1px solid var(--line); font-size: .92em; }
article { max-width: var(--measure); }
article > header { margin-bottom: 2.2em; }
.text > :first-child { margin-top: 0; }
article > header .about { color: var(--ink); font-size: 1.15em; line-height: 1.5; margin: 0 0 .8em; }
.byline { color: var(--quiet); font-size: .94em; margin: 0 0 .8em; }
.chips { display: flex; flex-wrap: wrap; gap: .4rem; list-style: none; padding: 0; margin: 0 0 .8em; font-size: .86em; }
.chips li { margin: 0; }
.chip { display: inline-block; background: var(--accent-soft); color: var(--accent); border-radius: 999px; padding: .12em .75em; text-decoration: none; max-width: 100%; overflow-wrap: anywhere; }
a.chip:hover { text-decoration: underline; }
.badge { display: inline-block; background: var(--warn-soft); color: var(--warn); border: 1px solid; border-radius: 4px; font-size: .72rem; font-weight: 650; letter-spacing: .05em; text-transform: uppercase; line-height: 1.4; padding: .1em .5em; margin: 0; vertical-align: .15em; }
@media print {
  :root { --paper: #fff; --raised: #fff; --soft: #f5f5f5; --line: #bbb; --edge: #666; --ink: #000; --quiet: #333; --accent: #000; --accent-soft: #fff; --found: #fff; --warn: #000; --warn-soft: #fff; --stop: #000; ${codeVariables(lightPalette)} color-scheme: light; }
  @page { margin: 2cm; }
  body { font-size: 10.5pt; line-height: 1.5; }
  article { max-width: none; }
  code { background: none; padding: 0; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  pre, table, .table { overflow: visible; }
  pre, blockquote, .alert, figure, tr, img { break-inside: avoid; }
  h1, h2, h3, h4, h5, h6 { break-after: avoid; }
  thead { display: table-header-group; }
  p, li { orphans: 3; widows: 3; }
  article a[href^="http"]:not(.bare)::after { content: " (" attr(href) ")"; font-size: .85em; overflow-wrap: anywhere; }
  .chip { border: 1px solid #999; }
}
`;
