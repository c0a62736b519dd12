import { articleStyle } from '../formats/markdown/articleStyle.ts';

/** One look for every page of the service: documents, lists, the reference, and the sign-in. */
export const pageStyle = `${articleStyle}
.skip { position: absolute; inset-inline-start: -100vw; top: 0; }
.skip:focus { inset-inline-start: 1rem; top: .6rem; z-index: 2; background: var(--raised); padding: .5rem .9rem; border-radius: 6px; }
.top { border-bottom: 1px solid var(--line); background: var(--raised); }
.bar { max-width: 76rem; margin: 0 auto; padding: .7rem 1.5rem; display: flex; flex-wrap: wrap; align-items: center; gap: .6rem 1.5rem; }
.brand { display: inline-flex; align-items: center; gap: .55rem; color: var(--ink); font-weight: 680; letter-spacing: -.01em; text-decoration: none; padding: .3rem 0; }
.brand svg { color: var(--accent); flex: none; }
.brand .logo { height: 1.75rem; width: auto; max-width: 9rem; border-radius: 0; flex: none; }
.bar nav { margin-inline-start: auto; display: flex; flex-wrap: wrap; align-items: center; gap: .3rem 1.25rem; font-size: .94em; }
.bar nav a { color: var(--quiet); text-decoration: none; padding: .3rem 0; border-bottom: 2px solid transparent; }
.bar nav a:hover { color: var(--ink); border-bottom-color: var(--line); }
.bar nav a[aria-current] { color: var(--ink); border-bottom-color: var(--accent); }
main { max-width: 76rem; margin: 0 auto; padding: clamp(1.75rem, 5vw, 3.5rem) 1.5rem 4rem; }
main:focus { outline: none; }
main > :not(.shelf, .reader, .with-tree) { max-width: 46rem; margin-inline: auto; }
.lead { font-size: 1.15em; line-height: 1.55; color: var(--quiet); }
input, select, button, .button { font: inherit; color: inherit; }
input[type=search], input[type=password] { width: 100%; min-height: 2.75rem; padding: .45rem .9rem; background: var(--raised); border: 1px solid var(--edge); border-radius: 8px; }
input::placeholder { color: var(--quiet); opacity: 1; }
input[type=checkbox] { width: 1.2rem; height: 1.2rem; margin: .2rem 0 0; accent-color: var(--accent); flex: none; }
button, .button { display: inline-flex; align-items: center; justify-content: center; min-height: 2.75rem; padding: .45rem 1.15rem; border: 1px solid var(--edge); border-radius: 8px; background: var(--raised); cursor: pointer; text-decoration: none; }
button:hover, .button:hover { background: var(--soft); }
button.main { background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 650; }
button.main:hover { filter: brightness(1.12); }
.search { display: flex; gap: .6rem; margin-bottom: 1.5rem; }
.search > div { flex: 1; min-width: 0; }
.bar .search { flex: 1 1 14rem; max-width: 24rem; margin: 0; }
.bar .search input { min-height: 2.3rem; padding: .25rem .75rem; border-color: var(--edge); background: var(--paper); font-size: .94em; }
.bar .search { position: relative; }
.bar .found { position: absolute; top: calc(100% + .4rem); inset-inline: 0; z-index: 2; max-height: 70vh; overflow-y: auto; padding: .8rem 1rem; background: var(--raised); border: 1px solid var(--edge); border-radius: 8px; box-shadow: 0 10px 30px -12px #0006; }
.bar .found:has(> .count:empty), .bar .found :is(.snippet, .chips, .about, .pager), .found ~ [hidden] { display: none; }
.bar .results > li { padding: .5rem 0; }
.bar .results h2 { font-size: 1em; }
.count:empty { margin: 0; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.shelf { display: grid; gap: 2.5rem 4rem; grid-template-columns: minmax(0, 1fr); max-width: 46rem; margin: 0 auto; }
.shelf > * { min-width: 0; }
.results { list-style: none; padding: 0; margin: 0; }
.results > li { padding: 1.35rem 0; margin: 0; border-top: 1px solid var(--line); }
.results > li:last-child { border-bottom: 1px solid var(--line); }
.results h2, .results h3 { font-size: 1.18rem; line-height: 1.35; margin: 0 0 .2rem; letter-spacing: -.01em; }
.results h2 a, .results h3 a { text-decoration: none; }
.results h2 a:hover, .results h3 a:hover { text-decoration: underline; }
.results p { margin: 0 0 .35rem; }
.results .snippet { color: var(--ink); white-space: pre-line; }
.results .about, .books .meta { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.results .chips { margin: .5rem 0 0; }
ol.numbered { counter-reset: place; }
.meta { color: var(--quiet); font-size: .92em; }
.count { color: var(--quiet); margin: 0 0 1rem; }
.filters { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 0 0 1rem; padding: 0; list-style: none; font-size: .92em; }
.filters li { margin: 0; min-width: 0; }
.pager { display: flex; flex-wrap: wrap; gap: .75rem; justify-content: space-between; align-items: center; margin-top: 1.75rem; }
.pager .button { font-size: .94em; max-width: 100%; }
.formats + .results { margin-top: 1.5rem; }
.doors { list-style: none; padding: 0; margin: 2.2rem 0 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 1rem; }
.doors li { position: relative; margin: 0; border: 1px solid var(--line); border-radius: 12px; background: var(--raised); padding: 1.2rem 1.4rem; }
.doors li:hover { border-color: var(--accent); }
.doors a { font-weight: 650; font-size: 1.1em; text-decoration: none; }
.doors a::after { content: " \\2192"; }
.doors a::before { content: ""; position: absolute; inset: 0; }
.doors p { margin: .35rem 0 0; color: var(--quiet); }
.books { margin: 0 0 2.2rem; }
.books h2 { font-size: 1rem; margin: 0 0 .8rem; }
.books > ul { list-style: none; padding: 0; margin: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: .8rem; }
.shelf article { max-width: none; margin-bottom: 2.2rem; }
.shelf article .contents, .shelf article .formats { display: none; }
.books > ul > li { border: 1px solid var(--line); border-radius: 10px; background: var(--raised); padding: .9rem 1.1rem; margin: 0; }
.books p { margin: .15rem 0 0; }
.books .formats { margin-top: .3rem; }
.books .title { font-weight: 620; }
.formats { display: flex; flex-wrap: wrap; gap: .5rem 1.1rem; list-style: none; padding: 0; margin: 0; font-size: .94em; }
.formats li { margin: 0; }
.reader { display: grid; grid-template-columns: minmax(min(100%, var(--measure)), max-content); justify-content: center; }
.reader > * { max-width: var(--measure); min-width: 0; }
/* Lines of text stay short, and tables take the width that there is. */
.reader > article, .reader .text { max-width: 100%; min-width: 0; }
.reader > article > header, .reader .text > * { max-width: var(--measure); }
.reader .text > .table { max-width: 100%; }
body:has(.reader .text > .table) :is(main, .bar) { max-width: 92rem; }
.contents { border: 1px solid var(--line); border-radius: 10px; background: var(--raised); padding: .8rem 1.1rem; margin: 0 0 2.2em; font-size: .92em; line-height: 1.45; }
.contents details { margin: 0; }
.contents ol { list-style: none; padding: 0; margin: .6rem 0 0; }
.contents li { margin: .4em 0; }
.contents li.deep { padding-inline-start: 1.1em; }
.contents a { text-decoration: none; color: var(--quiet); }
.contents a:hover { color: var(--accent); text-decoration: underline; }
.folders { display: flex; flex-wrap: wrap; gap: .4rem 1.1rem; list-style: none; padding: 0; margin: 0 0 1.4rem; }
.folders li { margin: 0; min-width: 0; }
.with-tree > * { min-width: 0; }
.with-tree > .shelf { width: 100%; }
.tree { margin: 0 auto 1.5rem; max-width: var(--measure); font-size: .92em; line-height: 1.4; }
.tree ul { list-style: none; padding: 0; margin: .3rem 0 0; }
.tree ul ul { padding-inline-start: .8rem; margin: .1rem 0 .4rem .15rem; border-inline-start: 1px solid var(--line); }
.tree li { margin: 0; }
.tree a { display: block; padding: .28rem .5rem; border-radius: 6px; color: var(--quiet); text-decoration: none; }
.tree .folder > a { color: var(--ink); font-weight: 600; }
.tree .folder > a::after { content: "/"; color: var(--quiet); font-weight: 400; }
.tree a:hover { background: var(--soft); color: var(--ink); }
.tree a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
.code { position: relative; margin: 0 0 1.15em; }
.code pre { margin: 0; }
.copy { position: absolute; top: .4rem; inset-inline-end: .4rem; min-height: 1.75rem; padding: .1rem .6rem; border-radius: 6px; border-color: var(--line); font-size: .8rem; color: var(--quiet); opacity: 0; }
.code:hover .copy, .copy:focus-visible { opacity: 1; }
@media (hover: none) { .copy { opacity: 1; } }
.whole { margin-top: 1.5rem; }
.path p { margin: 0 0 1.2rem; }
.around { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr)); gap: .8rem; margin-top: 3.5rem; }
.around a { border: 1px solid var(--line); border-radius: 10px; background: var(--raised); padding: .8rem 1.1rem; text-decoration: none; font-weight: 620; min-width: 0; }
.around a:hover { border-color: var(--accent); }
.around span { display: block; color: var(--quiet); font-size: .86em; font-weight: 400; }
.around .next { text-align: end; grid-column: -2 / -1; }
.notice { border: 1px solid; border-color: color-mix(in srgb, var(--warn) 45%, transparent); border-radius: 10px; background: var(--warn-soft); color: var(--ink); padding: .8rem 1.1rem; margin: 0 0 1.3rem; }
.notice p { margin: 0 0 .5em; }
.notice > :last-child { margin-bottom: 0; }
.card { max-width: 33rem !important; background: var(--raised); border: 1px solid var(--line); border-radius: 14px; padding: clamp(1.3rem, 5vw, 2.2rem); box-shadow: 0 1px 2px #0001, 0 10px 30px -18px #0004; }
.card h1 { font-size: 1.55rem; line-height: 1.25; }
.card form { margin: 0; }
.card form + p { margin-top: 1.3rem; }
.card pre { white-space: pre-wrap; overflow-wrap: anywhere; user-select: all; }
.card > :last-child { margin-bottom: 0; }
.card label { font-weight: 620; }
.card fieldset { border: 0; padding: 0; margin: 0 0 1.3rem; min-width: 0; }
.card legend { font-weight: 650; padding: 0; margin: 0 0 .5rem; }
.field { display: grid; gap: .4rem; margin: 0 0 1.2rem; }
.field p { margin: 0; color: var(--quiet); font-size: .92em; }
.facts { margin: 0 0 1.4rem; border: 1px solid var(--line); border-radius: 10px; }
.facts > div { padding: .65rem 1rem; }
.facts > div + div { border-top: 1px solid var(--line); }
.facts dt { color: var(--quiet); font-size: .86em; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.facts dd p { margin: .25rem 0 0; font-size: .92em; color: var(--quiet); }
.facts dd .warning { color: var(--warn); font-weight: 600; }
.foreign { unicode-bidi: isolate; overflow-wrap: anywhere; }
.host { font-weight: 700; overflow-wrap: anywhere; }
.scopes { list-style: none; padding: 0; margin: 0; }
.scopes li { display: flex; gap: .75rem; padding: .6rem 0; margin: 0; }
.scopes li + li { border-top: 1px solid var(--line); }
.scopes p { margin: 0; color: var(--quiet); font-size: .92em; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; }
.actions button { flex: 1 1 9rem; }
.method { color: var(--paper); background: var(--accent); border-radius: 4px; padding: .12em .5em; font-size: .74em; font-weight: 680; vertical-align: .1em; letter-spacing: .02em; }
.method + code { background: none; padding-inline: .2em; }
.ruled h2 { margin: 2.6em 0 .6em; padding-top: 1.3em; border-top: 1px solid var(--line); font-size: 1.2rem; }
.ruled table { width: 100%; }
.soft { color: var(--quiet); }
@media (min-width: 68rem) {
  .reader:has(.contents) { grid-template-columns: minmax(0, max-content) minmax(0, 16rem); grid-template-rows: auto auto 1fr; column-gap: 4rem; }
  .reader:has(.contents) > * { grid-column: 1; }
  .reader:has(.contents) > article { display: contents; }
  .reader:has(.contents) > article > header, .reader:has(.contents) > article > .text { grid-column: 1; min-width: 0; }
  .reader:has(.contents) .contents { grid-column: 2; grid-row: 1 / span 3; align-self: start; position: sticky; top: 1.5rem; max-height: calc(100vh - 3rem); overflow-y: auto; border: 0; border-inline-start: 1px solid var(--line); border-radius: 0; background: none; padding: .2rem 0 .2rem 1.2rem; }
}
/* Above the text, the list begins where the text does. */
@media screen and (max-width: 75.99rem) {
  .with-tree:has(> .reader) { width: fit-content; min-width: min(100%, var(--measure)); max-width: 100%; margin-inline: auto; }
  .with-tree > .tree { margin-inline: 0; }
}
@media screen and (min-width: 76rem) {
  .with-tree:has(.tree) { display: grid; grid-template-columns: 13rem minmax(0, 1fr); column-gap: 2.5rem; }
  .tree { position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow-y: auto; margin: 0; }
  .with-tree .reader:has(.contents) { column-gap: 2.5rem; }
}
/* Beside the text, the lists are always open; a browser that cannot do that shows what opens them. */
@supports selector(details::details-content) {
  @media (min-width: 68rem) {
    .contents summary { display: none; }
    .contents details::details-content { content-visibility: visible; block-size: auto; }
    .contents details::before { content: "Contents"; font-weight: 600; }
  }
  @media (min-width: 76rem) {
    .tree summary { display: none; }
    .tree details::details-content { content-visibility: visible; block-size: auto; }
  }
}
@media (max-width: 32rem) {
  main { padding-inline: 1.1rem; }
  .bar { padding-inline: 1.1rem; column-gap: 1rem; }
  .bar nav { gap: .3rem .9rem; font-size: .88em; }
  .bar .search { order: 3; flex-basis: 100%; max-width: none; }
  .brand:not(:last-child) span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .search .main { padding-inline: .9rem; }
}
@media (forced-colors: active) { button.main, .chip, .badge, mark { border: 1px solid; } }
@media print {
  .top, .path, .tree, .skip, .copy, .whole, .contents, .around, .formats, .pager, .search, .filters { display: none; }
  main { padding: 0; max-width: none; }
  main > :not(.shelf, .reader), .reader > *, .reader > article > header, .reader .text > * { max-width: none; }
  .reader, .reader:has(.contents) { display: block; }
  .card { box-shadow: none; border: 0; padding: 0; max-width: none !important; }
}
`;
