// daemon/practice/documents.ts
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

// daemon/practice/docsQuote.ts
function splitSections(markdown, file) {
  const sections = [{ heading: file, lines: [] }];
  let fence = "";
  for (const line of markdown.replace(/^---\r?\n.*?\r?\n---\r?\n/s, "").split(/\r?\n/)) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? "";
    const heading = fence === "" ? /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1] : void 0;
    if (heading !== void 0) sections.push({ heading, lines: [] });
    else sections.at(-1)?.lines.push(line);
    if (fence === "") fence = mark;
    else if (mark.startsWith(fence)) fence = "";
  }
  const title = sections[1]?.heading ?? file;
  return sections.map(({ heading, lines }) => ({ file, title, heading, paragraphs: splitParagraphs(lines) })).filter(({ paragraphs }) => paragraphs.length > 0);
}
function findSections(question, sections) {
  const asked = [...wordsOf(question)];
  const bags = sections.map(bagOf);
  const average = bags.reduce((sum, { length }) => sum + length, 0) / (bags.length || 1);
  const rarity = new Map(asked.map((word) => [word, rarityOf(word, bags)]));
  return bags.map((bag) => ({ section: bag.section, ...scoreOf(bag, rarity, average) })).filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
}
function bagOf(section) {
  const text = section.paragraphs.join("\n");
  return {
    section,
    heading: wordsOf(section.heading),
    document: wordsOf(`${section.title} ${section.file.replace(/\.md$/, "")}`),
    text: wordsOf(text),
    length: text.length
  };
}
function scoreOf({ heading, document, text, length }, rarity, average) {
  const inText = 2.2 / (1.3 + 0.9 * (length / average));
  let [score, hits, inHeading] = [0, 0, 0];
  for (const [word, weight] of rarity) {
    if (heading.has(word)) inHeading += 1;
    const points = (heading.has(word) ? 1 : 0) + (document.has(word) ? 0.5 : 0) + (text.has(word) ? inText : 0);
    if (points > 0) hits += 1;
    score += points * weight;
  }
  const likeness = 2 * inHeading / (heading.size + rarity.size || 1);
  const share = hits / (rarity.size || 1);
  return { score: score * (0.5 + share / 2) + 3 * likeness, share };
}
function rarityOf(word, bags) {
  const having = bags.filter(({ heading, text }) => heading.has(word) || text.has(word)).length;
  return Math.log(1 + (bags.length - having + 0.5) / (having + 0.5));
}
function quoteSection(question, { paragraphs }) {
  const asked = wordsOf(question);
  const ranked = joinLeads(paragraphs).map((text, index) => ({
    text,
    index,
    hits: [...wordsOf(text)].filter((word) => asked.has(word)).length
  })).sort((a, b) => b.hits - a.hits || a.index - b.index);
  let room = 900;
  const chosen = ranked.filter(({ text, hits }, rank) => {
    if (rank > 0 && hits === 0) return false;
    const fits = rank === 0 || text.length <= room;
    if (fits) room -= text.length;
    return fits;
  });
  return chosen.sort((a, b) => a.index - b.index).map(({ text }) => blockQuote(text)).join("\n>\n");
}
function blockQuote(text) {
  return text.replace(/^(.?)/gm, (_line, first) => first === "" ? ">" : `> ${first}`);
}
function joinLeads(paragraphs) {
  const joined = [];
  for (const paragraph of paragraphs) {
    const lead = joined.at(-1)?.endsWith(":") ? joined.pop() : void 0;
    joined.push(lead === void 0 ? paragraph : `${lead}

${paragraph}`);
  }
  return joined;
}
function wordsOf(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => word.length > 1 && !smallWords.has(word)).map(stem));
}
var smallWords = new Set(
  `a about an and any are as at be by can could do does explain for from get give has have help how i if in into is it
  its let may me my no not of on or our please say show so some tell that the their them then there these they this to
  us use was we what when where which who why will with would you your hello hi hey thanks happen happens`.split(
    /\s+/
  )
);
function stem(word) {
  return word.replace(/(?:ies|y)$/, "i").replace(/(?<=\w{3})(?:ing|ed|es|s)$/, "");
}
function splitParagraphs(lines) {
  const paragraphs = [[]];
  let fence = "";
  for (const line of lines) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? "";
    if (line.trim() === "" && fence === "") paragraphs.push([]);
    else paragraphs.at(-1)?.push(line);
    if (fence === "") fence = mark;
    else if (mark.startsWith(fence)) fence = "";
  }
  return paragraphs.filter((paragraph) => paragraph.length > 0).map((paragraph) => paragraph.join("\n"));
}

// daemon/practice/documents.ts
var limits = { files: 200, bytes: 512 * 1024 };
function createDocuments(folder) {
  let read;
  return { sections: () => read ??= folder === void 0 ? Promise.resolve([]) : readFolder(folder) };
}
async function readFolder(folder) {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const files = names.filter((name) => name.endsWith(".md")).sort().slice(0, limits.files);
  const sections = [];
  for (const file of files) {
    const path = join(folder, file);
    const text = await readFile(path, "utf8").catch(() => "");
    sections.push(...splitSections(text.slice(0, limits.bytes), relative(folder, path)));
  }
  return sections;
}

// daemon/practice/completionGuess.ts
function guessCompletion({
  prefix,
  suffix
}) {
  const line = /[^\n]*$/.exec(prefix)?.[0] ?? "";
  const before = prefix.slice(0, prefix.length - line.length);
  return restOfLine(line.trimStart(), before) || restOfWord(line, `${before}
${suffix}`);
}
function restOfLine(start, before) {
  if (start.trim().length < 3) return "";
  const earlier = before.split("\n").map((line) => line.trim());
  const same = earlier.findLast((line) => line.startsWith(start) && line.length > start.length);
  return same?.slice(start.length) ?? "";
}
function restOfWord(line, around) {
  const start = /[\p{L}_$][\p{L}\p{N}_$]+$/u.exec(line)?.[0];
  if (start === void 0) return "";
  const words = around.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? [];
  return words.findLast((word) => word.startsWith(start) && word.length > start.length)?.slice(start.length) ?? "";
}

// daemon/practice/fields.ts
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function textOf(value) {
  return typeof value === "string" ? value : "";
}
function listOf(value) {
  return Array.isArray(value) ? value : [];
}

// daemon/practice/schemaSample.ts
function sampleOf(schema, question, name = "") {
  if (!isRecord(schema)) return question;
  if ("const" in schema) return schema["const"];
  if ("default" in schema) return schema["default"];
  const [alternative] = [...listOf(schema["anyOf"]), ...listOf(schema["oneOf"])];
  if (alternative !== void 0) return sampleOf(alternative, question, name);
  const choices = listOf(schema["enum"]);
  if (choices.length > 0) return choices.find((choice) => mentions(question, String(choice))) ?? choices[0];
  switch (typeName(schema)) {
    case "integer":
    case "number":
      return sampleNumber(schema, question);
    case "boolean":
      return true;
    case "array":
      return [sampleOf(schema["items"], question, name)];
    case "object":
      return sampleObject(schema, question);
    case "null":
      return null;
    default:
      return sampleText(question, name);
  }
}
function sampleObject(schema, question) {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(listOf(schema["required"]));
  const wanted = Object.entries(properties).filter(
    ([name, property]) => required.has(name) || mentions(question, name) || isNumberGiven(property, question)
  );
  return Object.fromEntries(wanted.map(([name, property]) => [name, sampleOf(property, question, name)]));
}
function typeName({ type, properties }) {
  const name = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  return textOf(name) || (properties === void 0 ? "string" : "object");
}
function isNumberGiven(property, question) {
  return isRecord(property) && /^(integer|number)$/.test(typeName(property)) && /\d/.test(question);
}
function sampleNumber({ minimum, maximum }, question) {
  const given = Number(/-?\d+(?:\.\d+)?/.exec(question)?.[0] ?? 1);
  const low = typeof minimum === "number" ? minimum : Number.NEGATIVE_INFINITY;
  const high = typeof maximum === "number" ? maximum : Number.POSITIVE_INFINITY;
  return Math.min(high, Math.max(low, given));
}
function sampleText(question, name) {
  const quoted = /["'`“]([^"'`”]+)["'`”]/.exec(question)?.[1];
  if (/url|uri|link/i.test(name)) return /https?:\/\/\S+/.exec(question)?.[0] ?? "https://example.org/";
  if (/path|file|dir|folder/i.test(name))
    return /[\w./\\-]*\w\.\w+|[\w.-]+\/[\w./-]*/.exec(question)?.[0] ?? quoted ?? "README.md";
  if (/city|place|location|town|country/i.test(name)) return placeIn(question) ?? quoted ?? "Cologne";
  return quoted ?? question.trim().slice(0, 200);
}
function placeIn(question) {
  const after = /\b(?:in|for|at|of)\s+(\p{Lu}[\p{L}-]*(?:\s\p{Lu}[\p{L}-]*)*)/u.exec(question)?.[1];
  return after ?? [...question.matchAll(/(?<=\S\s)\p{Lu}[\p{L}-]+/gu)].at(-1)?.[0];
}
function mentions(question, word) {
  return word !== "" && question.toLowerCase().includes(word.toLowerCase());
}

// daemon/practice/tokens.ts
function splitTokens(text) {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

// daemon/practice/toolChoice.ts
function chooseCall(question, tools) {
  const named = tools.find(({ name }) => isNamed(question, name));
  const tool = named ?? (asksForTool.test(question) ? closestTool(question, tools) : void 0);
  return tool && { name: tool.name, arguments: sampleObject(tool.parameters, question) };
}
var asksForTool = /\b(?:use|call|run|try|tools?|weather|look up|search|fetch|read|open|list)\b/i;
function isNamed(question, name) {
  if (name === "") return false;
  const text = question.toLowerCase();
  if (new RegExp(`(?<![\\w-])${escapePattern(name.toLowerCase())}(?![\\w-])`).test(text)) return true;
  const words = name.split(/[_\-.\s]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return words.length > 1 && words.every((word) => new RegExp(`\\b${escapePattern(word)}\\b`).test(text));
}
function closestTool(question, tools) {
  const asked = wordsOf(question);
  const ranked = tools.map((tool) => {
    const words = wordsOf(`${tool.name.replace(/[_-]/g, " ")} ${tool.description}`);
    return { tool, hits: [...asked].filter((word) => words.has(word)).length };
  }).sort((a, b) => b.hits - a.hits);
  const [best] = ranked;
  const anyTool = /\b(?:a|any|some|the|your)\s+tools?\b/i.test(question);
  return best && (best.hits > 0 || anyTool) ? best.tool : void 0;
}
function escapePattern(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

// daemon/practice/practiceSpeaker.ts
var label = "*Practice runner, not a language model.*";
function createPracticeSpeaker(documents) {
  return async function* speak2(prompt) {
    if (prompt.hole) return yield* say(guessCompletion(prompt.hole));
    const sections = await documents.sections();
    const question = lastQuestion(prompt.messages);
    if (prompt.format !== void 0 && prompt.format !== "") return yield* say(formatted(prompt, question));
    const last = prompt.messages.at(-1);
    if (last?.role === "tool") return yield* say(`${label}

${quoteResult(last)}`);
    const matches = findSections(question, sections);
    if (prompt.think) yield* think(thoughtsOf(question, sections, matches));
    const call = chooseCall(question, prompt.tools);
    if (!call) return yield* say(`${label}

${answerOf(question, sections, matches)}`);
    yield* say(`${label}

I call the tool \`${call.name}\` with what your question gives.`);
    yield { kind: "calls", calls: [call] };
  };
}
function* say(text) {
  for (const token of splitTokens(text)) yield { kind: "text", text: token };
}
function* think(text) {
  for (const token of splitTokens(text)) yield { kind: "thinking", text: token };
}
function lastQuestion(messages) {
  const content = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const question = content.replace(/<([\w-]+)(?:\s[^>]*)?>.*?<\/\1>/gs, "").trim();
  return (question || content).slice(-2e3);
}
function thoughtsOf(question, sections, [best, next]) {
  const words = [...wordsOf(question)].map((word) => `"${word}"`).join(", ");
  if (words === "") return "There is no word in that which I could look for.\n";
  const files = new Set(sections.map(({ file }) => file)).size;
  const looking = `Looking for ${words} in ${files} documents with ${sections.length} sections.`;
  if (!best) return `${looking} Nothing fits.
`;
  const second = next ? `, before ${titleOf(next.section)} with ${next.score.toFixed(1)}` : "";
  return `${looking} Best match: ${titleOf(best.section)} with ${best.score.toFixed(1)} points${second}.
`;
}
function answerOf(question, sections, matches) {
  const [best, ...others] = matches;
  if (!best) return nothingFound(question, sections);
  const { section } = best;
  const more = others.slice(0, 2).map((other) => titleOf(other.section));
  const pointer = more.length > 0 ? `

There is more in ${more.join(" and ")}.` : "";
  const source = best.share < 0.5 ? "The nearest that I can quote, from" : "From";
  return `${source} ${titleOf(section)}:

${quoteSection(question, section)}${pointer}`;
}
function nothingFound(question, sections) {
  const titles = [...new Set(sections.map(({ title }) => title))];
  if (titles.length === 0)
    return "I have no documents to quote from, so I can only show how an answer streams. Start a real runner for real answers.";
  const greeting = wordsOf(question).size === 0 ? "Hello. I quote this project's documents, so that you see how an answer streams before you install anything." : "I can only quote this project's documents, and found nothing in them for that.";
  const list = titles.slice(0, 10).map((title) => `- ${title}`);
  return `${greeting} Ask me about:

${list.join("\n")}`;
}
function quoteResult({ content, toolName }) {
  const name = toolName === "" ? "The tool" : `The tool \`${toolName}\``;
  const shown = content.length > 1e3 ? `${content.slice(0, 1e3)} \u2026` : content;
  return shown.trim() === "" ? `${name} answered nothing.` : `${name} answered:

${blockQuote(shown)}`;
}
function formatted({ format }, question) {
  const sample = isRecord(format) ? sampleOf(format, question) : { note: "Practice runner, not a language model." };
  return JSON.stringify(sample);
}
function titleOf({ file, heading }) {
  return heading === file ? `\`${file}\`` : `\`${file}\`, \u201C${heading.replace(/`/g, "")}\u201D`;
}

// .tap-build-practice/q.ts
var speak = createPracticeSpeaker(createDocuments("docs"));
for (const q of ["What can you do?", "How do I pull a model in the terminal?", "How do I install a runner?", "What is a Modelfile?", "Is it private?", "how does thinking look", "Write a hello world in Python", "why is the context window small", "which settings are there?", "Hi!"]) {
  let out = "";
  for await (const p of speak({ model: "practice", messages: [{ role: "user", content: q, toolName: "", images: 0 }], tools: [], think: false, signal: new AbortController().signal })) if (p.kind === "text") out += p.text;
  console.log("=== " + q + "\n" + out.slice(42, 420));
}
