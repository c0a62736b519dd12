import { pictures } from './pictures.ts';

/** Words that stand only in what is not public: in titles, slugs, tags, types, texts, names of files and pictures. */
export const secretWords = [
  'zirconium',
  'basilisk',
  'quokka',
  'vermilion',
  'halcyon',
  'obsidian',
  'tamarind',
  'wolverine',
  'saffron',
  'peregrine',
  'juniper',
  'marzipan',
] as const;

const secretPicture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><desc>marzipan</desc><rect width="8" height="8"/></svg>';
const openPicture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8" viewBox="0 0 8 8"><circle r="3" cx="4" cy="4" fill="#0b6360"/></svg>';

/** What no page shows: comments as Markdown has them, definitions that nothing uses, attributes and other markup. */
const hiddenForms = [
  '[//]: # (wolverine)',
  '[_]: # "basilisk"',
  '[unused]: https://example.org/quokka "vermilion"',
  '<object data="saffron.md"></object>',
  '<input value="obsidian">',
  '<?marzipan x?>',
  '<![CDATA[tamarind]]>',
  '<!DOCTYPE peregrine>',
].join('\n\n');

/** A library with two public collections, and what could show something of the rest. */
export const openLibrary: Readonly<Record<string, string | Uint8Array>> = {
  'open/start.md': `---
title: First steps
type: guide
tags: [News, { slug: shared, title: Shared }]
date: 2026-11-02
authors: [Ada Lovelace]
description: How to begin.
---
# First steps

Words about reading, and [the next page](next.md). [More](../closed/zirconium.md), [the plan](../closed/basilisk/README.md#quokka "tamarind see"),
<a title="vermilion" href="/closed/zirconium.md" lang="en" data-note='juniper > wolverine'>raw</a>, [by reference][ref], [a draft](halcyon.md), [a folder](/closed/basilisk/), [a guide](obsidian)
and ![a circle](pictures/circle.svg) [hidden](../closed/pictures/marzipan.svg).

![dot](pictures/dot.png)

<!-- marzipan

saffron -->

[ref]: <../closed/zirconium.md>
  'peregrine'
`,
  'open/next.md': `---
title: Next steps
type: guide
tags: [{ slug: shared, title: Shared }]
updated: 2026-11-20T10:00:00+01:00
---
Words to search for: [neighbour word ${'x '.repeat(3)}](../closed/zirconium.md) and [again](<../closed/zirconium.md>) lantern
## A

## B

## C

## D
`,
  'open/undated.md': `# Undated\n\nA lantern. <textarea>halcyon</textarea>\n\n${hiddenForms}\n`,
  'open/obsidian.md':
    '---\ntitle: The obsidian file\ntype: juniper\ntags: [Shared]\n---\nreading lantern obsidian words',
  'open/halcyon.md':
    '---\ntitle: The halcyon draft\ndraft: true\ntype: guide\ntags: [Shared, Tamarind]\ndate: 2026-11-22\n---\nreading lantern words halcyon',
  'closed/zirconium.md':
    '---\ntitle: The zirconium file\ntype: juniper\ntags: [Shared, Vermilion]\ndate: 2026-11-21\n---\nreading lantern words about saffron ![m](pictures/marzipan.svg) [s](../open/start.md)',
  'closed/basilisk/README.md': '---\ntitle: The basilisk\n---\nreading lantern wolverine\n\n## Quokka\n',
  'closed/pictures/marzipan.svg': secretPicture,
  'open/pictures/circle.svg': openPicture,
  'open/pictures/dot.png': pictures.png,
  'collections/handbook.yaml':
    'title: The handbook\ndescription: Read this first.\nauthor: Grace Hopper\nlang: en\npublic: true\ndocs: [start, undated, halcyon, next]\n',
  'collections/guides.yaml': 'title: All guides\npublic: true\nquery: { type: guide }\n',
  'collections/peregrine.yaml':
    'title: The peregrine book\ndescription: peregrine\ndocs: [start, zirconium]\n',
};
