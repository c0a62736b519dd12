// test/practice/recordings.test.ts
import { createHash as createHash4 } from "node:crypto";
import { request as httpRequest } from "node:http";
import t from "tap";

// test/support/recordedModels.ts
function recordedModels(recordings2) {
  const said = (name) => linesOf(recordings2, name).map((line) => line.message?.content ?? line.response ?? "");
  const texts = (name) => said(name).slice(0, -1).map(text);
  const thinking = linesOf(recordings2, "068-think-unset").flatMap(({ message: message2 }) => {
    if (message2?.thinking) return [{ kind: "thinking", text: message2.thinking }];
    return message2?.content ? [text(message2.content)] : [];
  });
  const tags = [text(""), text("")];
  const switchAt = thinking.findIndex(({ kind }) => kind === "text");
  const thought = [...tags, ...thinking.slice(0, switchAt), ...tags, ...thinking.slice(switchAt)];
  const endless = texts("062-chat-window-filled-no-shift");
  const llama = { family: "llama", size: 2648640, template: "{{ .Prompt }}<|go|>" };
  const zero = { parameters: { temperature: 0 } };
  return [
    {
      ...llama,
      ...zero,
      name: "scripted-twotools",
      capabilities: ["completion", "tools"],
      speak: () => callsOf(recordings2, "079-tools-two")
    },
    {
      ...llama,
      ...zero,
      name: "scripted-hole",
      capabilities: ["completion", "insert"],
      speak: () => texts("086-hole-stream")
    },
    {
      ...{ ...llama, ...zero, name: "scripted-tools", capabilities: ["completion", "tools"] },
      speak: toolSpeaker(texts("080-tools-not-given"), callsOf(recordings2, "077-tools-one"))
    },
    {
      ...llama,
      ...zero,
      name: "scripted-badtool",
      capabilities: ["completion", "tools"],
      speak: () => [{ kind: "lost", tokens: 34 }]
    },
    {
      ...{ ...llama, ...zero, name: "scripted-thinking:1b", capabilities: ["completion", "thinking"] },
      speak: ({ think: think2 }) => think2 ? thought : texts("070-think-false")
    },
    { ...llama, ...zero, name: "scripted-json", speak: () => texts("065-chat-format-json") },
    { ...llama, ...zero, name: "scripted-leaky", speak: () => texts("064-chat-leaky") },
    { ...llama, ...zero, name: "scripted-endless", contextLength: 32768, speak: () => forEver(endless) },
    { ...llama, ...plainParts, name: "scripted-plain", speak: () => texts("048-chat-stream") }
  ];
}
var plainParts = {
  license: ["MIT"],
  parameters: { temperature: 0, stop: ["<END>", "</END>"] },
  weights: "sha256:785b30f66d7cad9501458e2dac391059cae9df0b946f77ae9ac68cb5d784b1c6"
};
function linesOf(recordings2, name) {
  const recording = recordings2.find((one) => one.file.startsWith(name));
  if (!recording) throw new Error(`There is no recording ${name}.`);
  const body = recording.response.chunks.map((chunk) => chunk.text).join("");
  return body.trim().split("\n").map((line) => JSON.parse(line));
}
function callsOf(recordings2, name) {
  return linesOf(recordings2, name).flatMap(({ message: message2 }) => {
    const calls = message2?.tool_calls?.map((call) => call.function) ?? [];
    return calls.length > 0 ? [{ kind: "calls", calls }] : [];
  });
}
function toolSpeaker(asText, asCalls) {
  return ({ tools }) => {
    if (tools.length === 0) return asText;
    const offered = tools.some(({ name }) => name === "get_weather");
    return offered ? asCalls : [{ kind: "lost", tokens: 31 }];
  };
}
function* forEver(pieces) {
  for (; ; ) yield* pieces;
}
function text(value) {
  return { kind: "text", text: value };
}

// test/support/recordings.ts
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
var folder = join("test", "fixtures", "recordings");
function readRecordings() {
  return readdirSync(folder).filter((file) => file.endsWith(".json")).sort().map((file) => ({ file, ...JSON.parse(readFileSync(join(folder, file), "utf8")) }));
}

// daemon/practice/practiceRunner.ts
import { createServer } from "node:http";

// daemon/practice/clock.ts
import { setTimeout as wait } from "node:timers/promises";
var systemClock = {
  now: () => performance.timeOrigin + performance.now(),
  delay: (milliseconds2, signal) => wait(milliseconds2, void 0, { signal })
};

// daemon/practice/json.ts
function encodeJson(value) {
  const json = JSON.stringify(
    value,
    (_key, part) => typeof part === "string" ? part.replace(loneSurrogate, "\uFFFD") : part
  );
  return json.replace(escaped, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
var loneSurrogate = new RegExp("\\p{Surrogate}", "gu");
var escaped = /[<>&\u2028\u2029]/g;
function goTime(milliseconds2) {
  return new Date(milliseconds2).toISOString().replace(/\.?0*Z$/, "Z");
}

// daemon/practice/exchange.ts
var jsonType = "application/json; charset=utf-8";
function answerJson(response, body, { status: status2 = 200, contentType = jsonType } = {}) {
  answerText(response, encodeJson(body), { status: status2, contentType });
}
function answerText(response, text2, {
  status: status2 = 200,
  contentType = "text/plain"
} = {}) {
  response.writeHead(status2, { "content-type": contentType, "content-length": Buffer.byteLength(text2) });
  response.end(text2);
}
function answerEmpty(response, status2) {
  response.writeHead(status2, { "content-length": 0 });
  response.end();
}

// daemon/practice/failure.ts
var ApiFailure = class extends Error {
  constructor(status2, message2, before = {}, after = {}) {
    super(message2);
    this.status = status2;
    this.before = before;
    this.after = after;
  }
  status;
  before;
  after;
  get body() {
    return { ...this.before, error: this.message, ...this.after };
  }
};
function badRequest(message2) {
  return new ApiFailure(400, message2);
}
function modelNotFound(name) {
  return new ApiFailure(404, `model '${name}' not found`);
}
function quoted(text2) {
  return JSON.stringify(text2);
}

// daemon/practice/requestBody.ts
var maxBytes = 64 * 1024 * 1024;
async function readText(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    const buffer = chunk;
    bytes += buffer.length;
    if (bytes > maxBytes) throw badRequest("http: request body too large");
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}
function parseBody(text2) {
  const start = text2.trimStart();
  if (start === "") throw badRequest("missing request body");
  if (!/^[[{"\d\-tfn]/.test(start)) throw unexpected(start, "looking for beginning of value");
  const end = endOfValue(start);
  if (end === void 0) throw badRequest("unexpected EOF");
  try {
    return JSON.parse(start.slice(0, end));
  } catch (error) {
    throw unexpected(characterAt(error, start), "in literal or after value");
  }
}
function tryBody(text2) {
  try {
    return JSON.parse(text2);
  } catch {
    return text2;
  }
}
function endOfValue(text2) {
  if (!/^[[{]/.test(text2)) return text2.length;
  let depth = 0;
  for (const { 0: token, index } of text2.matchAll(/"(?:[^"\\]|\\.)*("|$)|[[{\]}]/gs)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    if (depth === 0) return index + token.length;
  }
  return void 0;
}
function unexpected(text2, where) {
  return badRequest(`invalid character '${text2.slice(0, 1)}' ${where}`);
}
function characterAt(error, text2) {
  const position = /position (\d+)/.exec(String(error))?.[1];
  return position === void 0 ? text2 : text2.slice(Number(position));
}

// daemon/practice/account.ts
function me({ response }) {
  const signinUrl = "https://ollama.com/connect?name=practice&key=cHJhY3RpY2U";
  answerJson(response, { error: "unauthorized", signin_url: signinUrl }, { status: 401 });
}
function signOut({ response }) {
  answerJson(response, { error: "you are not currently signed in" }, { status: 401 });
}
function recommendations({ response, runner }) {
  const entries2 = runner.catalog.map(({ name, description = "", contextLength }) => ({
    model: name,
    description,
    context_length: contextLength
  }));
  answerJson(response, { recommendations: entries2 });
}

// daemon/practice/blobs.ts
import { createHash } from "node:crypto";
var digestForm = /^sha256[:-][0-9a-f]{64}$/;
function blobExists({ response, runner, tail }) {
  const digest = parseDigest(tail);
  if (!runner.store.hasBlob(digest)) {
    answerJson(response, { error: `blob ${JSON.stringify(digest)} not found` }, { status: 404 });
    return;
  }
  response.writeHead(200);
  response.end();
}
async function uploadBlob({ incoming, response, runner, request, tail }) {
  const digest = parseDigest(tail);
  if (runner.store.hasBlob(digest)) {
    incoming.resume();
    answerEmpty(response, 200);
    return;
  }
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of incoming) {
    hash.update(chunk);
    size += chunk.length;
  }
  request.body = `${size} bytes`;
  const got = `sha256:${hash.digest("hex")}`;
  if (got !== digest) throw badRequest(`digest mismatch, expected "${digest}", got "${got}"`);
  runner.store.addBlob(digest, size);
  answerEmpty(response, 201);
}
function parseDigest(tail) {
  if (!digestForm.test(tail)) throw badRequest("invalid digest format");
  return tail.replace("-", ":");
}

// daemon/practice/duration.ts
var milliseconds = {
  ns: 1e-6,
  us: 1e-3,
  \u00B5s: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5
};
function parseKeepAlive(value) {
  if (value === void 0) return void 0;
  if (typeof value === "number") return value < 0 ? Number.POSITIVE_INFINITY : value * 1e3;
  if (typeof value !== "string") throw badRequest(`Unsupported type: '${goType(value)}'`);
  const duration = parseDuration(value);
  return duration < 0 ? Number.POSITIVE_INFINITY : duration;
}
function parseDuration(text2) {
  if (text2 === "0") return 0;
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/s.exec(text2) ?? [];
  if (!/^[\d.]/.test(rest)) throw badRequest(`time: invalid duration ${JSON.stringify(text2)}`);
  let total = 0;
  for (const [, amount = "", unit = ""] of rest.matchAll(/([\d.]+)([^\d.]*)/g)) {
    if (unit === "") throw badRequest(`time: missing unit in duration ${JSON.stringify(text2)}`);
    const factor = milliseconds[unit];
    if (factor === void 0) throw badRequest(`time: unknown unit "${unit}" in duration "${text2}"`);
    total += Number(amount) * factor;
  }
  return sign === "-" ? -total : total;
}
function goType(value) {
  if (typeof value === "boolean") return "bool";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}

// daemon/practice/fields.ts
var goTypes = {
  string: "string",
  bool: "bool",
  int: "int",
  object: "map[string]interface {}",
  array: "[]interface {}",
  any: "interface {}"
};
function readFields(body, struct) {
  if (!isRecord(body))
    throw badRequest(`json: cannot unmarshal ${jsonType2(body)} into Go value of type api.${struct.name}`);
  const names = new Map(Object.keys(struct.fields).map((name) => [name.toLowerCase(), name]));
  const fields = {};
  for (const [key, value] of Object.entries(body)) {
    const name = names.get(key.toLowerCase());
    if (name === void 0 || value === null) continue;
    checkType(value, struct.fields[name] ?? "any", `${struct.name}.${name}`);
    fields[name] = value;
  }
  return fields;
}
function checkType(value, type, path) {
  const actual = jsonType2(value);
  const fits2 = type === "any" || actual === type || type === "int" && actual === "number" && Number.isInteger(value);
  if (fits2) return;
  const came = actual === "number" && type === "int" ? `number ${String(value)}` : actual;
  throw badRequest(`json: cannot unmarshal ${came} into Go struct field ${path} of type ${goTypes[type]}`);
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function textOf(value) {
  return typeof value === "string" ? value : "";
}
function listOf(value) {
  return Array.isArray(value) ? value : [];
}
function jsonType2(value) {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "number" || typeof value === "string" ? typeof value : "object";
}

// daemon/practice/model.ts
import { createHash as createHash2 } from "node:crypto";
function capabilitiesOf(model) {
  return model.capabilities ?? ["completion"];
}
function contextLengthOf(model) {
  return model.contextLength ?? 4096;
}
function layersOf(model) {
  const texts = [
    ["template", model.template],
    ["license", model.license?.join("\n")],
    ["system", model.system],
    ["params", model.parameters && JSON.stringify(model.parameters)],
    ["messages", model.messages?.length ? JSON.stringify(model.messages) : void 0],
    ["config", JSON.stringify([model.name, model.family, model.capabilities, model.remote])]
  ];
  const weights = model.remote ? [] : [{ kind: "model", digest: weightsOf(model), size: model.size ?? 65536 }];
  return [...weights, ...texts.flatMap(([kind, text2]) => text2 ? [textLayer(kind, text2)] : [])];
}
function weightsOf(model) {
  return model.weights ?? digestOf(`weights of ${model.name}`);
}
function manifestDigest(model) {
  const layers = layersOf(model).map(({ digest }) => digest);
  return digestOf(layers.join()).slice("sha256:".length);
}
function digestOf(content) {
  return `sha256:${createHash2("sha256").update(content).digest("hex")}`;
}
function blobPath(digest) {
  return `/models/blobs/${digest.replace(":", "-")}`;
}
function textLayer(kind, text2) {
  return { kind, digest: digestOf(text2), size: Buffer.byteLength(text2) };
}

// daemon/practice/modelName.ts
var defaults = { scheme: "https", host: "registry.ollama.ai", namespace: "library", tag: "latest" };
var hostPart = /^\w[\w.:-]{0,349}$/;
var namespacePart = /^\w[\w-]{0,79}$/;
var modelPart = /^\w[\w.-]{0,79}$/;
function tryModelName(raw) {
  const [, scheme = defaults.scheme, rest = ""] = /^(?:(\w+):\/\/)?(.*)$/s.exec(withoutLocal(raw)) ?? [];
  const slash = rest.lastIndexOf("/");
  const colon = rest.lastIndexOf(":");
  const path = colon > slash ? rest.slice(0, colon) : rest;
  const tag = colon > slash ? rest.slice(colon + 1) : defaults.tag;
  const [model = "", namespace = defaults.namespace, host = defaults.host, ...more] = path.split("/").reverse();
  const valid = more.length === 0 && modelPart.test(model) && modelPart.test(tag) && namespacePart.test(namespace) && hostPart.test(host);
  return valid ? { scheme, host, namespace, model, tag } : void 0;
}
function displayName(name) {
  const ownHost = name.host === defaults.host;
  const ownNamespace = ownHost && name.namespace === defaults.namespace;
  const path = [...ownHost ? [] : [name.host], ...ownNamespace ? [] : [name.namespace], name.model];
  return `${path.join("/")}:${name.tag}`;
}
function fullName(name) {
  return `${name.host}/${name.namespace}/${name.model}:${name.tag}`;
}
function nameKey(name) {
  return fullName(name).toLowerCase();
}
function isCloudName(raw) {
  const colon = raw.lastIndexOf(":");
  return colon !== -1 && /^(?:.*-)?cloud$/i.test(raw.slice(colon + 1).trim());
}
function stubName(raw) {
  return raw.trim().replace(/(:[^:/]+):cloud$/i, "$1-cloud");
}
function withoutLocal(raw) {
  return stubName(raw).replace(/:local$/i, "");
}

// daemon/practice/modelOptions.ts
var optionTypes = {
  ...typed("integer", "num_ctx num_batch num_gpu main_gpu num_thread draft_num_predict num_keep seed"),
  ...typed("integer", "num_predict top_k repeat_last_n"),
  ...typed("float32", "temperature top_p min_p typical_p repeat_penalty presence_penalty frequency_penalty"),
  ...typed("boolean", "use_mmap"),
  ...typed("string array", "stop")
};
function readOptions(ofModel, ofRequest) {
  const options = { ...ofModel, ...ofRequest };
  for (const [name, value] of Object.entries(options)) checkOption(name, value);
  const { num_ctx: window, num_predict: limit, stop } = options;
  return {
    ...typeof window === "number" ? { window: Math.max(4, window) } : {},
    limit: typeof limit === "number" && limit > 0 ? limit : Number.POSITIVE_INFINITY,
    stop: Array.isArray(stop) ? stop.filter((one) => typeof one === "string" && one !== "") : []
  };
}
function checkOption(name, value) {
  const type = optionTypes[name];
  if (type === void 0 || value === null || isOfType(value, type)) return;
  throw new ApiFailure(500, `option "${name}" must be of type ${type === "string array" ? "array" : type}`);
}
function isOfType(value, type) {
  if (type === "integer" || type === "float32") return typeof value === "number";
  if (type === "boolean") return typeof value === "boolean";
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
function typed(type, names) {
  return Object.fromEntries(names.split(" ").map((name) => [name, type]));
}

// daemon/practice/inferenceRequest.ts
var inferenceFields = {
  ...{ model: "string", stream: "bool", format: "any", options: "object", think: "any", keep_alive: "any" },
  ...{ truncate: "bool", shift: "bool", logprobs: "bool", top_logprobs: "int", _debug_render_only: "bool" }
};
function readInference(fields) {
  const { think: think2, options, logprobs, top_logprobs: top = 0 } = fields;
  checkThink(think2);
  const keepAlive = parseKeepAlive(fields["keep_alive"]);
  if (typeof top === "number" && (top < 0 || top > 20))
    throw badRequest("top_logprobs must be between 0 and 20");
  return {
    name: textOf(fields["model"]),
    stream: fields["stream"] !== false,
    think: think2,
    keepAlive,
    truncate: fields["truncate"] !== false,
    shift: fields["shift"] !== false,
    format: fields["format"],
    options: isRecord(options) ? options : {},
    ...logprobs === true && typeof top === "number" ? { topLogprobs: top } : {}
  };
}
function findModel({ runner }, name, path) {
  if (!tryModelName(name)) throw badRequest("invalid model name");
  const model = runner.store.find(name);
  if (model) return model;
  if (isCloudName(name)) throw new ApiFailure(502, `Post "https://ollama.com:443${path}": ${noSuchHost}`);
  throw modelNotFound(name);
}
function requireCapabilities({ name, think: think2 }, model, { use, needed }) {
  const has = capabilitiesOf(model);
  if (!has.includes("completion")) throw badRequest(`${quoted(name)} does not support ${use}`);
  const missing = needed.filter((one) => !has.includes(one));
  const parsed = tryModelName(model.name);
  const wants = think2 !== void 0 && think2 !== false;
  if (wants && !has.includes("thinking")) throw badRequest(`${quoted(name)} does not support thinking`);
  if (missing.length > 0 && parsed)
    throw badRequest(`${fullName(parsed)} does not support ${missing.join("\n")}`);
}
function loadModel({ runner }, model, { options, keepAlive }) {
  const read = readOptions(model.parameters ?? {}, options);
  const window = Math.min(read.window ?? 4096, contextLengthOf(model));
  runner.loaded.load(model, window, keepAlive);
  return { ...read, window };
}
function checkFormat(format) {
  if (format === void 0 || format === "" || format === "json" || isRecord(format)) return;
  const text2 = `invalid format: ${quoted(JSON.stringify(format))}; expected "json" or a valid JSON Schema object`;
  throw new ApiFailure(500, text2);
}
function thinks({ think: think2 }, model) {
  return capabilitiesOf(model).includes("thinking") && think2 !== false;
}
var noSuchHost = "dial tcp: lookup ollama.com: no such host";
function checkThink(think2) {
  if (think2 === void 0 || typeof think2 === "boolean") return;
  if (typeof think2 === "string" && ["high", "medium", "low", "max"].includes(think2)) return;
  const shown = typeof think2 === "string" ? quoted(think2) : JSON.stringify(think2);
  throw badRequest(`invalid think value: ${shown} (must be "high", "medium", "low", "max", true, or false)`);
}

// daemon/practice/meter.ts
function startMeter(promptTokens2) {
  const start = performance.now();
  let tokens = 0;
  let first = start;
  let last = start;
  return {
    count(more) {
      if (more <= 0) return;
      last = performance.now();
      if (tokens === 0) first = last;
      tokens += more;
    },
    tokens: () => tokens,
    read: () => ({
      total_duration: nanoseconds(performance.now() - start),
      load_duration: 1e3,
      prompt_eval_count: promptTokens2,
      prompt_eval_duration: nanoseconds(first - start),
      eval_count: tokens,
      eval_duration: tokens > 1 ? nanoseconds(last - first) : 0
    })
  };
}
function metricsOnWire(metrics2) {
  return Object.fromEntries(Object.entries(metrics2).filter(([, value]) => value !== 0));
}
function nanoseconds(milliseconds2) {
  return Math.max(1, Math.round(milliseconds2 * 1e6));
}

// daemon/practice/stream.ts
import { once } from "node:events";
async function answerLines(exchange, lines2) {
  const { response, signal } = exchange;
  try {
    for await (const line of lines2) await sendLine(exchange, line);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    if (!response.headersSent) return answerFailure(exchange, error);
    await sendLine(exchange, error.body);
  }
  signal.throwIfAborted();
  startLines(exchange);
  response.end();
}
async function answerMerged(exchange, lines2, {
  merge,
  contentType
}) {
  const all = [];
  try {
    for await (const line of lines2) all.push(line);
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    return answerFailure(exchange, error);
  }
  exchange.signal.throwIfAborted();
  answerJson(exchange.response, merge(all), contentType === void 0 ? {} : { contentType });
}
function answerFailure({ response }, { status: status2, body }) {
  answerJson(response, body, { status: status2, contentType: "application/json" });
}
async function sendLine(exchange, line) {
  const { response, signal } = exchange;
  signal.throwIfAborted();
  startLines(exchange);
  if (!response.write(`${encodeJson(line)}
`)) await once(response, "drain", { signal });
}
function startLines({ response }) {
  if (!response.headersSent) response.writeHead(200, { "content-type": "application/x-ndjson" });
}

// daemon/practice/answer.ts
function answerLoaded(exchange, {
  request,
  model,
  said
}) {
  const unload = request.keepAlive === 0;
  if (!unload) loadModel(exchange, model, request);
  const done = { done: true, done_reason: unload ? "unload" : "load" };
  answerJson(exchange.response, { ...headOf(exchange, { request, model }), ...said, ...done });
}
async function answerSteps(exchange, steps2, framing) {
  const { request, model } = framing;
  if (request.stream) await answerLines(exchange, linesOf2(exchange, steps2, framing));
  else
    await answerMerged(exchange, mergeSteps(exchange, steps2, framing), {
      merge: (lines2) => lines2.at(-1) ?? {}
    });
  if (request.keepAlive === 0) exchange.runner.loaded.unload(model);
}
async function* linesOf2(exchange, steps2, framing) {
  let said = "";
  for await (const step2 of steps2) {
    said += step2.text;
    yield lineOf(exchange, { step: step2, said, framing });
  }
}
async function* mergeSteps(exchange, steps2, framing) {
  const all = [];
  for await (const step3 of steps2) all.push(step3);
  const said = all.map(({ text: text2 }) => text2).join("");
  const thinking = all.map((step3) => step3.thinking ?? "").join("");
  const calls = all.flatMap((step3) => step3.calls ?? []);
  const logprobs = all.flatMap((step3) => step3.logprobs ?? []);
  const step2 = {
    ...all.at(-1),
    text: said,
    ...thinking === "" ? {} : { thinking },
    ...calls.length === 0 ? {} : { calls },
    ...logprobs.length === 0 ? {} : { logprobs }
  };
  yield lineOf(exchange, { step: step2, said, framing });
}
function lineOf(exchange, { step: step2, said, framing }) {
  const { done } = step2;
  return {
    ...headOf(exchange, framing),
    ...framing.toFields(step2),
    done: done !== void 0,
    done_reason: done?.reason,
    context: done && framing.context?.(said),
    ...framing.context ? {} : { logprobs: step2.logprobs },
    ...done ? metricsOnWire(done.metrics) : {},
    ...framing.context ? { logprobs: step2.logprobs } : {}
  };
}
function headOf({ runner }, { request, model }) {
  const { remote: remote2 } = model;
  return {
    model: remote2?.model ?? request.name,
    remote_model: remote2?.model,
    remote_host: remote2?.host,
    created_at: goTime(runner.clock.now())
  };
}

// daemon/practice/tokens.ts
function countTokens(text2) {
  return Math.ceil(text2.length / 4);
}
function splitTokens(text2) {
  return text2.match(/\s*\S+|\s+$/g) ?? [];
}

// daemon/practice/chatMessages.ts
function readMessages(value) {
  return listOf(value).map((message2) => {
    if (!isRecord(message2))
      throw badRequest("json: cannot unmarshal into Go struct field ChatRequest.messages");
    const { role, content, images, tool_calls: calls, tool_name: toolName, thinking } = message2;
    for (const [name, text2] of Object.entries({ role, content, thinking }))
      if (text2 !== void 0 && text2 !== null) checkType(text2, "string", `ChatRequest.messages.${name}`);
    for (const call of listOf(calls)) checkArguments(call);
    for (const image of listOf(images)) checkBase64(textOf(image));
    return {
      role: textOf(role).toLowerCase(),
      content: textOf(content),
      toolName: textOf(toolName),
      images: listOf(images).length
    };
  });
}
function readTools(value) {
  return listOf(value).flatMap((tool) => {
    const definition = isRecord(tool) ? tool["function"] : void 0;
    if (!isRecord(definition)) return [];
    const { name, description, parameters } = definition;
    return [
      {
        name: textOf(name),
        description: textOf(description),
        parameters: isRecord(parameters) ? parameters : {}
      }
    ];
  });
}
function promptTokens(messages, tools) {
  const texts = messages.map(({ content, images }) => countTokens(content) + 4 + images * 10);
  const offered = tools.map((tool) => countTokens(JSON.stringify(tool)));
  return [...texts, ...offered].reduce((sum, count) => sum + count, 0);
}
function checkArguments(call) {
  const called = isRecord(call) ? call["function"] : void 0;
  const given2 = isRecord(called) ? called["arguments"] : void 0;
  if (typeof given2 === "string")
    throw badRequest("Value looks like object, but can't find closing '}' symbol");
}
function checkBase64(text2) {
  const at = text2.search(/[^A-Za-z0-9+/=\r\n]/);
  if (at !== -1) throw badRequest(`illegal base64 data at input byte ${at}`);
}

// daemon/practice/inference.ts
import { randomBytes } from "node:crypto";

// daemon/practice/pacer.ts
import { setImmediate as turn } from "node:timers/promises";
function createPacer(perSecond, clock, signal) {
  let count = 0;
  let due = clock.now();
  return async () => {
    signal.throwIfAborted();
    if (!Number.isFinite(perSecond)) {
      count += 1;
      if (count % 32 === 0) await turn();
      return;
    }
    due += 1e3 / perSecond;
    const wait3 = due - clock.now();
    if (wait3 > 0) await clock.delay(wait3, signal);
  };
}

// daemon/practice/stopFilter.ts
function createStopFilter(stop) {
  let held = "";
  return {
    push(text2) {
      held += text2;
      const cuts = stop.map((sequence) => held.indexOf(sequence)).filter((index) => index !== -1);
      if (cuts.length > 0) {
        const shown2 = held.slice(0, Math.min(...cuts));
        held = "";
        return { text: shown2, stopped: true };
      }
      if (stop.some((sequence) => endsWithStartOf(held, sequence))) return { text: "", stopped: false };
      const shown = held;
      held = "";
      return { text: shown, stopped: false };
    },
    rest: () => held
  };
}
function endsWithStartOf(text2, sequence) {
  for (let length = Math.min(text2.length, sequence.length - 1); length > 0; length -= 1)
    if (text2.endsWith(sequence.slice(0, length))) return true;
  return false;
}

// daemon/practice/inference.ts
async function* infer(exchange, job) {
  const { runner, signal } = exchange;
  const release = runner.loaded.use(job.model);
  const pace = createPacer(
    exchange.speak ? Number.POSITIVE_INFINITY : runner.tokensPerSecond,
    runner.clock,
    signal
  );
  try {
    for await (const step2 of steps(exchange, job)) {
      await pace();
      yield step2;
    }
  } finally {
    release();
  }
}
async function* steps(exchange, job) {
  const meter = startMeter(job.promptTokens);
  const stops = createStopFilter(job.stop);
  const last = [];
  const room = job.shift ? job.limit : Math.min(job.limit, job.window - job.promptTokens + 1);
  const speak = exchange.speak ?? job.model.speak ?? exchange.runner.speak;
  let index = 0;
  const number = (calls) => calls.map((call) => callOnWire(call, index++));
  for await (const piece of speak(job.prompt)) {
    exchange.signal.throwIfAborted();
    if (piece.kind === "failure") throw new ApiFailure(piece.status ?? 500, piece.message);
    if (piece.kind === "cut") return;
    if (piece.kind === "crash") return exchange.drop();
    if (piece.kind === "lost") meter.count(piece.tokens);
    else if (piece.kind === "calls") {
      meter.count(countTokens(JSON.stringify(piece.calls)));
      if (piece.inLastLine) last.push(...number(piece.calls));
      else yield { text: "", calls: number(piece.calls) };
    } else {
      meter.count(1);
      const { text: text2, stopped } = piece.kind === "text" ? stops.push(piece.text) : { text: "", stopped: false };
      if (piece.kind === "thinking") yield { text: "", thinking: piece.text };
      else if (text2 !== "" || piece.text === "") yield { text: text2, ...logprobsOf(text2, job.topLogprobs) };
      if (stopped) break;
    }
    if (meter.tokens() >= room) return yield finalStep("length", meter.read(), last);
  }
  const rest = stops.rest();
  if (rest !== "") yield { text: rest, ...logprobsOf(rest, job.topLogprobs) };
  yield finalStep("stop", meter.read(), last);
}
function finalStep(reason, metrics2, calls) {
  return { text: "", ...calls.length > 0 ? { calls } : {}, done: { reason, metrics: metrics2 } };
}
function callOnWire({ id, name, arguments: args }, index) {
  return { id: id ?? `call_${randomId()}`, function: { index, name, arguments: args } };
}
function randomId() {
  return [...randomBytes(8)].map((byte) => (byte % 36).toString(36)).join("");
}
function logprobsOf(text2, top) {
  if (top === void 0 || text2 === "") return {};
  const token = { token: text2, logprob: 0, bytes: [...Buffer.from(text2)] };
  const unknown = { token: "<unk>", logprob: -178.6, bytes: [...Buffer.from("<unk>")] };
  return { logprobs: [{ ...token, ...top > 0 ? { top_logprobs: [token, unknown].slice(0, top) } : {} }] };
}

// daemon/practice/window.ts
function fitMessages(messages, count, { window, truncate }) {
  let kept = messages;
  while (count(kept) > window) {
    if (!truncate) throw badRequest("the input length exceeds the context length");
    const oldest = kept.findIndex(({ role }, index) => role !== "system" && index < kept.length - 1);
    if (oldest === -1) return { messages: kept, tokens: window };
    kept = kept.toSpliced(oldest, 1);
  }
  return { messages: kept, tokens: count(kept) };
}

// daemon/practice/chat.ts
var chatRequest = {
  name: "ChatRequest",
  fields: { ...inferenceFields, messages: "array", tools: "array" }
};
async function chat(exchange) {
  const fields = readFields(parseBody(exchange.text), chatRequest);
  const messages = readMessages(fields["messages"]);
  const tools = readTools(fields["tools"]);
  const request = readInference(fields);
  if (request.name === "") throw badRequest("model is required");
  const model = findModel(exchange, request.name, "/api/chat");
  const empty = messages.length === 0;
  if (model.remote && empty) return refuseAsRemote(exchange);
  if (empty && request.keepAlive === 0) exchange.runner.loaded.unload(model);
  else requireCapabilities(request, model, { use: "chat", needed: tools.length > 0 ? ["tools"] : [] });
  if (empty)
    return answerLoaded(exchange, { request, model, said: { message: { role: "assistant", content: "" } } });
  const options = loadModel(exchange, model, request);
  const steps2 = chatSteps(exchange, { request, model, options, messages, tools });
  return answerSteps(exchange, steps2, { request, model, toFields: messageFields });
}
async function* chatSteps(exchange, turn3) {
  const { request, model, options, tools } = turn3;
  const { window, limit, stop } = options;
  checkFormat(request.format);
  const count = (messages2) => promptTokens(messages2, tools);
  const { messages, tokens } = fitMessages(turn3.messages, count, { ...request, window });
  const { signal } = exchange;
  const think2 = thinks(request, model);
  const prompt = { model: request.name, messages, tools, think: think2, format: request.format, signal };
  const { shift, topLogprobs } = request;
  const probabilities = topLogprobs === void 0 ? {} : { topLogprobs };
  const steps2 = infer(exchange, {
    ...{ prompt, model, promptTokens: tokens, window, shift, limit, stop },
    ...probabilities
  });
  for await (const step2 of steps2) if (step2.text || step2.thinking || step2.calls || step2.done) yield step2;
}
function messageFields({ text: text2, thinking, calls }) {
  return { message: { role: "assistant", content: text2, thinking, tool_calls: calls } };
}
function refuseAsRemote({ response }) {
  const body = { StatusCode: 400, Status: "400 Bad Request", error: "messages must not be empty" };
  answerJson(response, body, { status: 400, contentType: "application/x-ndjson" });
}

// daemon/practice/pull.ts
import { setImmediate as turn2 } from "node:timers/promises";
var pullRequest = {
  name: "PullRequest",
  fields: { model: "string", name: "string", insecure: "bool", stream: "bool" }
};
function pull(exchange) {
  const fields = readFields(parseBody(exchange.text), pullRequest);
  const raw = stubName(textOf(fields["model"]) || textOf(fields["name"]));
  const name = tryModelName(raw);
  if (!name) throw badRequest("invalid model name");
  return answerProgress(
    exchange,
    fields,
    pullLines(exchange, name, { insecure: fields["insecure"] === true })
  );
}
function answerProgress(exchange, fields, lines2) {
  if (fields["stream"] !== false) return answerLines(exchange, lines2);
  const merge = (all) => all.at(-1) ?? {};
  return answerMerged(exchange, lines2, { merge, contentType: "application/json" });
}
async function* pullLines(exchange, name, options) {
  yield { status: "pulling manifest" };
  const model = findInCatalog(exchange.runner, name, options.insecure);
  const layers = layersOf(model);
  for (const layer of layers) yield* layerLines(exchange, layer);
  yield { status: "verifying sha256 digest" };
  yield { status: "writing manifest" };
  exchange.runner.store.install({ ...model, name: nameOf(name), modifiedAt: exchange.runner.clock.now() });
  yield { status: "success" };
}
var step = 262144;
async function* layerLines({ runner, signal }, layer) {
  const { digest, size: total } = layer;
  const line = { status: `pulling ${digest.slice(7, 19)}`, digest, total };
  if (runner.store.hasBlob(digest)) return yield { ...line, completed: total };
  let completed = runner.store.partOf(digest);
  if (completed === 0) yield line;
  while (completed < total) {
    await (runner.pullStep > 0 ? runner.clock.delay(runner.pullStep, signal) : turn2());
    signal.throwIfAborted();
    completed = Math.min(total, Math.max(completed, runner.store.partOf(digest)) + step);
    runner.store.keepPart(layer, completed);
    yield { ...line, completed };
  }
}
function findInCatalog({ catalog }, name, insecure) {
  if (name.scheme === "http" && !insecure) throw plainHttp(name);
  const model = catalog.find((one) => {
    const parsed = tryModelName(one.name);
    return parsed !== void 0 && nameKey(parsed) === nameKey(name);
  });
  if (!model) throw new ApiFailure(500, "pull model manifest: file does not exist");
  return model;
}
function plainHttp({ host, namespace, model, tag }) {
  const address = `https://${host}/v2/${namespace}/${model}/manifests/${tag}`;
  const text2 = `Get "${address}": http: server gave HTTP response to HTTPS client`;
  return new ApiFailure(500, `pull model manifest: ${text2}`);
}
function nameOf({ host, namespace, model, tag }) {
  return `${host}/${namespace}/${model}:${tag}`;
}

// daemon/practice/create.ts
var createRequest = {
  name: "CreateRequest",
  fields: {
    ...{ model: "string", name: "string", from: "string", stream: "bool", quantize: "string" },
    ...{ files: "object", adapters: "object", draft_files: "object", info: "object", remote_host: "string" },
    ...{ template: "string", system: "string", license: "any", parameters: "object", messages: "array" },
    ...{ renderer: "string", parser: "string", requires: "string" }
  }
};
function create(exchange) {
  const fields = readFields(parseBody(exchange.text), createRequest);
  const name = textOf(fields["model"]) || textOf(fields["name"]);
  if (!tryModelName(name)) throw badRequest("invalid model name");
  for (const file of Object.keys(recordOf(fields["files"])))
    if (/^[/\\]|^[a-z]:|(^|[/\\])\.\.([/\\]|$)/i.test(file)) throw badRequest("file path must be relative");
  return answerProgress(exchange, fields, createLines(exchange, name, fields));
}
async function* createLines(exchange, name, fields) {
  const { store, clock } = exchange.runner;
  if (fields["remote_host"] !== void 0) {
    yield { status: "writing manifest" };
    store.install(remoteStub(name, fields));
    return yield { status: "success" };
  }
  const base = yield* baseLines(exchange, fields);
  checkTemplate(textOf(fields["template"]));
  const model = { ...base, ...changesOf(base, fields), name, modifiedAt: clock.now() };
  const before = new Set(layersOf(base).map(({ digest }) => digest));
  const layers = layersOf(model).filter(({ kind }) => kind !== "config");
  const kept = layers.filter(({ digest }) => before.has(digest));
  const added = layers.filter(({ digest }) => !before.has(digest));
  for (const { digest } of kept) yield { status: `using existing layer ${digest}` };
  for (const layer of added) yield { status: `${origin(exchange, layer)} ${layer.digest}` };
  yield { status: "writing manifest" };
  store.install(model);
  yield { status: "success" };
}
async function* baseLines(exchange, fields) {
  const { store } = exchange.runner;
  const from = textOf(fields["from"]);
  if (from === "") return yield* fileLines(exchange, recordOf(fields["files"]));
  const parent = store.find(from) ?? (yield* pulledParent(exchange, from));
  return { ...parent, parent: parent.name };
}
async function* pulledParent(exchange, from) {
  const name = tryModelName(from);
  if (!name) throw badRequest("invalid model name");
  yield* pullLines(exchange, name, { insecure: false });
  const parent = exchange.runner.store.find(from);
  if (!parent) throw new ApiFailure(500, "pull model manifest: file does not exist");
  return parent;
}
async function* fileLines({ runner }, files) {
  const [digest] = Object.values(files).map(textOf);
  if (digest === void 0) throw badRequest("neither 'from' or 'files' was specified");
  if (digest === "") throw badRequest("invalid digest format");
  yield { status: "parsing GGUF" };
  if (!runner.store.hasBlob(digest))
    throw new ApiFailure(500, `open ${blobPath(digest)}: no such file or directory`);
  return { name: "", weights: digest, parent: blobPath(digest) };
}
function changesOf(base, fields) {
  const { template: template2, system, parameters, messages, license } = fields;
  const turns = listOf(messages).filter(isRecord);
  const licenses = (Array.isArray(license) ? license : [license]).map(textOf).filter(Boolean);
  return {
    ...template2 ? { template: textOf(template2) } : {},
    ...system ? { system: textOf(system) } : {},
    ...parameters ? { parameters: { ...base.parameters, ...recordOf(parameters) } } : {},
    ...licenses.length > 0 ? { license: [...base.license ?? [], ...licenses] } : {},
    ...turns.length > 0 ? { messages: turns.map(({ role, content }) => ({ role: textOf(role), content: textOf(content) })) } : {}
  };
}
function remoteStub(name, fields) {
  const { capabilities, context_length: contextLength } = recordOf(fields["info"]);
  const known = ["completion", "tools", "thinking", "vision", "insert", "embedding"];
  return {
    name,
    remote: { host: textOf(fields["remote_host"]), model: textOf(fields["from"]) || name },
    capabilities: known.filter((one) => listOf(capabilities).includes(one)),
    ...typeof contextLength === "number" ? { contextLength } : {}
  };
}
function origin({ runner }, { digest }) {
  return runner.store.hasBlob(digest) ? "using existing layer" : "creating new layer";
}
function checkTemplate(template2) {
  const empty = /\{\{-?\s*(if|range|with)\s*-?\}\}/.exec(template2)?.[1];
  if (empty) throw badRequest(`template error: template: :1: missing value for ${empty}`);
  if (/\{\{(?:(?!\}\}).)*$/s.test(template2))
    throw badRequest("template error: template: :1: unclosed action");
}
function recordOf(value) {
  return isRecord(value) ? value : {};
}

// daemon/practice/embed.ts
import { createHash as createHash3 } from "node:crypto";
var embedRequest = {
  name: "EmbedRequest",
  fields: {
    ...{ model: "string", input: "any", prompt: "string", truncate: "bool", dimensions: "int" },
    ...{ options: "object", keep_alive: "any" }
  }
};
function embed(exchange) {
  const fields = readFields(parseBody(exchange.text), embedRequest);
  const request = readInference(fields);
  const model = findForEmbedding(exchange, request.name);
  const inputs = readInputs(fields);
  const { window } = loadModel(exchange, model, request);
  const counts = inputs.map(countTokens);
  if (!request.truncate && counts.some((count2) => count2 > window))
    throw badRequest("the input length exceeds the context length");
  const length = typeof fields["dimensions"] === "number" ? fields["dimensions"] : 320;
  const count = counts.reduce((sum, one) => sum + one, 0);
  answerJson(exchange.response, {
    model: request.name,
    embeddings: inputs.map((input) => normalize(vectorOf(input, length))),
    total_duration: inputs.length > 0 ? 2e3 : void 0,
    load_duration: inputs.length > 0 ? 1e3 : void 0,
    prompt_eval_count: count || void 0
  });
}
function embedOld(exchange) {
  const fields = readFields(parseBody(exchange.text), embedRequest);
  const request = readInference(fields);
  const model = findForEmbedding(exchange, request.name);
  loadModel(exchange, model, request);
  const prompt = textOf(fields["prompt"]);
  answerJson(exchange.response, { embedding: prompt === "" ? [] : vectorOf(prompt, 320) });
}
function findForEmbedding({ runner }, name) {
  if (name === "") throw new ApiFailure(404, "model '' not found");
  const model = runner.store.find(name);
  if (!model) throw new ApiFailure(404, `model ${quoted(name)} not found, try pulling it first`);
  return model;
}
function readInputs({ input }) {
  if (input === void 0 || input === "") return [];
  const inputs = Array.isArray(input) ? input : [input];
  if (!inputs.every((one) => typeof one === "string")) throw badRequest("invalid input type");
  return inputs.filter((one) => one !== "");
}
function vectorOf(text2, length) {
  const bytes = createHash3("sha256").update(text2).digest();
  return Array.from({ length }, (_, index) => (bytes[index % bytes.length] ?? 0) / 255 - 0.5);
}
function normalize(vector) {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => Math.fround(value / length));
}

// daemon/practice/generate.ts
var generateRequest = {
  name: "GenerateRequest",
  fields: {
    ...inferenceFields,
    ...{ prompt: "string", suffix: "string", system: "string", template: "string" },
    ...{ context: "array", raw: "bool", images: "array" }
  }
};
async function generate(exchange) {
  const fields = readFields(parseBody(exchange.text), generateRequest);
  const request = readInference(fields);
  if (request.name === "") throw modelNotFound("");
  const model = findModel(exchange, request.name, "/api/generate");
  const passage = readPassage(fields, request, model);
  const empty = passage.prompt === "" && passage.suffix === "";
  if (empty && request.keepAlive === 0) exchange.runner.loaded.unload(model);
  else
    requireCapabilities(request, model, { use: "generate", needed: passage.suffix === "" ? [] : ["insert"] });
  if (empty) return answerLoaded(exchange, { request, model, said: { response: "" } });
  const steps2 = passageSteps(exchange, passage, loadModel(exchange, model, request));
  const context = (said) => passage.raw ? void 0 : contextOf(passage, said);
  return answerSteps(exchange, steps2, { request, model, toFields, context });
}
function readPassage(fields, request, model) {
  const raw = fields["raw"] === true;
  if (raw && (fields["template"] || fields["system"] || fields["context"]))
    throw badRequest("raw mode does not support template, system, or context");
  return {
    ...{ request, model, raw },
    prompt: textOf(fields["prompt"]),
    suffix: textOf(fields["suffix"]),
    system: textOf(fields["system"]) || (model.system ?? "")
  };
}
async function* passageSteps(exchange, passage, { window, limit, stop }) {
  const { request, model, prompt, suffix, system, raw } = passage;
  checkFormat(request.format);
  const hole = suffix !== "" || raw ? { hole: { prefix: prompt, suffix } } : {};
  const turns = [message("system", "hole" in hole ? "" : system), message("user", prompt + suffix)];
  const count = (kept) => promptTokens(kept, []);
  const asked = turns.filter(({ content }) => content !== "");
  const { messages, tokens } = fitMessages(asked, count, { ...request, window });
  const think2 = !raw && thinks(request, model);
  const { name, format, shift, topLogprobs } = request;
  yield* infer(exchange, {
    prompt: { model: name, messages, tools: [], think: think2, format, signal: exchange.signal, ...hole },
    ...{ model, promptTokens: tokens, window, shift, limit, stop },
    ...topLogprobs === void 0 ? {} : { topLogprobs }
  });
}
function toFields({ text: text2, thinking }) {
  return { response: text2, thinking };
}
function message(role, content) {
  return { role, content, toolName: "", images: 0 };
}
function contextOf({ prompt, suffix }, said) {
  return [...`${prompt}${suffix}${said}`].map((character) => character.codePointAt(0) ?? 0);
}

// daemon/practice/libraryPage.ts
function libraryPage({ response, runner, tail }) {
  const entries2 = runner.catalog.filter(({ name }) => tail === "" || baseName(name) === tail);
  const found = entries2.length > 0 || tail === "";
  const page = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Practice library</title></head><body>
<h1>${found ? "Practice library" : "Page not found"}</h1>
<ul role="list">
${entries2.map(entryItem).join("\n")}
</ul>
</body></html>
`;
  answerText(response, page, { status: found ? 200 : 404, contentType: "text/html; charset=utf-8" });
}
function entryItem(model) {
  const name = escapeHtml(baseName(model.name));
  const marks = capabilitiesOf(model).map((one) => `<span x-test-capability>${one}</span>`);
  return `<li x-test-model><a href="/library/${name}"><h2>${name}</h2><p>${escapeHtml(model.description ?? "")}</p>${marks.join("")}</a></li>`;
}
function baseName(name) {
  return name.replace(/:[^/:]*$/, "");
}
function escapeHtml(text2) {
  return text2.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

// daemon/practice/modelEntries.ts
function installedEntry(model) {
  const lengths = {
    context_length: contextLengthOf(model),
    embedding_length: model.remote ? void 0 : 320
  };
  return {
    name: model.name,
    model: model.name,
    remote_model: model.remote?.model,
    remote_host: model.remote?.host,
    modified_at: goTime(model.modifiedAt),
    size: sizeOf(model),
    digest: manifestDigest(model),
    details: { ...detailsOf(model, parentOf(model)), ...model.old ? {} : lengths },
    capabilities: model.old ? void 0 : capabilitiesOf(model)
  };
}
function runningEntry({ model, window, expiresAt }) {
  return {
    name: model.name,
    model: model.name,
    size: sizeOf(model) * 2,
    digest: manifestDigest(model),
    details: detailsOf(model, ""),
    expires_at: goTime(expiresAt),
    size_vram: 0,
    context_length: window
  };
}
function detailsOf(model, parent) {
  if (model.remote) return { ...noDetails, family: model.family ?? "" };
  const { family = "practice", parameterSize = "0", quantization = "unknown" } = model;
  return {
    parent_model: parent,
    format: "gguf",
    family,
    families: model.families === void 0 ? [family] : model.families,
    parameter_size: parameterSize,
    quantization_level: quantization
  };
}
function parentOf(model) {
  return model.parent ?? blobPath(weightsOf(model));
}
function sizeOf(model) {
  return layersOf(model).reduce((sum, { size }) => sum + size, 0);
}
var noDetails = {
  parent_model: "",
  format: "",
  family: "",
  families: null,
  parameter_size: "",
  quantization_level: ""
};

// daemon/practice/models.ts
function listModels({ response, runner }) {
  answerJson(response, { models: runner.store.list().map(installedEntry) });
}
function listRunning({ response, runner }) {
  answerJson(response, { models: runner.loaded.list().map(runningEntry) });
}
function stopModel({ response, runner, tail }) {
  const model = runner.store.find(tail);
  if (!model) throw modelNotFound(tail);
  runner.loaded.unload(model);
  answerJson(response, {});
}
var copyRequest = { name: "CopyRequest", fields: { source: "string", destination: "string" } };
function copyModel({ response, runner, text: text2 }) {
  const { source, destination } = readFields(parseBody(text2), copyRequest);
  for (const [role, name] of Object.entries({ source, destination }))
    if (!tryModelName(textOf(name))) throw badRequest(`${role} ${quoted(textOf(name))} is invalid`);
  const model = runner.store.find(textOf(source));
  if (!model) throw new ApiFailure(404, `model ${quoted(textOf(source))} not found`);
  runner.store.install({ ...model, name: textOf(destination), modifiedAt: runner.clock.now() });
  answerEmpty(response, 200);
}
var deleteRequest = { name: "DeleteRequest", fields: { model: "string", name: "string" } };
function deleteModel({ response, runner, text: text2 }) {
  const { model, name } = readFields(parseBody(text2), deleteRequest);
  const asked = textOf(model) || textOf(name);
  const parsed = tryModelName(asked);
  if (!parsed) throw badRequest(`name ${quoted(asked)} is invalid`);
  if (!runner.store.remove(stubName(asked))) throw modelNotFound(shownAs(asked, displayName(parsed)));
  answerEmpty(response, 200);
}
function shownAs(asked, display) {
  return asked.includes(":") ? display : asked;
}

// daemon/practice/modelfileText.ts
function modelfileOf(model) {
  const lines2 = [
    '# Modelfile generated by "ollama show"',
    "# To build a new Modelfile based on this, replace FROM with:",
    `# FROM ${model.name}`,
    "",
    `FROM ${model.remote ? "" : blobPath(weightsOf(model))}`,
    `TEMPLATE ${quote(model.template ?? "{{ .Prompt }}")}`,
    ...model.system ? [`SYSTEM ${quote(model.system)}`] : [],
    ...parameterLines(model.parameters ?? {}),
    ...(model.license ?? []).map((license) => `LICENSE ${quote(license)}`),
    ...(model.messages ?? []).map(({ role, content }) => `MESSAGE ${role} ${quote(content)}`)
  ];
  return `${lines2.join("\n")}
`;
}
function parameterLines(parameters) {
  return Object.entries(parameters).flatMap(
    ([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => `PARAMETER ${name} ${quote(String(one))}`)
  );
}
function quote(text2) {
  if (!text2.includes("\n") && text2 === text2.trim()) return text2;
  return text2.includes('"') ? `"""${text2}"""` : `"${text2}"`;
}

// daemon/practice/show.ts
var showRequest = {
  name: "ShowRequest",
  fields: { model: "string", name: "string", verbose: "bool", system: "string", options: "object" }
};
function show({ response, runner, text: text2 }) {
  const { model, name } = readFields(parseBody(text2), showRequest);
  const asked = textOf(model) || textOf(name);
  if (asked === "") throw badRequest("model is required");
  if (!tryModelName(asked)) throw badRequest("invalid model name");
  const installed = runner.store.find(asked);
  if (!installed) throw modelNotFound(asked.includes(":") ? asked : `${asked}:latest`);
  answerJson(response, detailsAnswer(installed));
}
function detailsAnswer(model) {
  return {
    license: model.license?.join("\n"),
    modelfile: modelfileOf(model),
    parameters: model.parameters && parameterLines2(model.parameters),
    template: model.template ?? "{{ .Prompt }}",
    system: model.system,
    details: detailsOf(model, parentOf(model)),
    messages: model.messages?.length ? model.messages : void 0,
    remote_model: model.remote?.model,
    remote_host: model.remote?.host,
    model_info: model.remote ? {} : modelInfo(model),
    tensors: model.remote ? void 0 : tensors,
    capabilities: model.old ? void 0 : capabilitiesOf(model),
    modified_at: goTime(model.modifiedAt)
  };
}
function parameterLines2(parameters) {
  return Object.entries(parameters).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one])).map(([name, value]) => `${name.padEnd(30)} ${JSON.stringify(value)}`).join("\n");
}
function modelInfo(model) {
  const architecture = model.family ?? "practice";
  const ofArchitecture = {
    "attention.head_count": 5,
    "attention.head_count_kv": 5,
    "attention.layer_norm_rms_epsilon": 1e-5,
    block_count: 1,
    context_length: contextLengthOf(model),
    embedding_length: 320,
    feed_forward_length: 64,
    "rope.dimension_count": 64,
    vocab_size: 294
  };
  return {
    "general.architecture": architecture,
    "general.file_type": 0,
    "general.parameter_count": 0,
    ...Object.fromEntries(
      Object.entries(ofArchitecture).map(([key, value]) => [`${architecture}.${key}`, value])
    ),
    "tokenizer.ggml.add_bos_token": false,
    "tokenizer.ggml.add_space_prefix": false,
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.scores": null,
    "tokenizer.ggml.token_type": null,
    "tokenizer.ggml.tokens": null,
    "tokenizer.ggml.unknown_token_id": 0
  };
}
var tensors = [
  { name: "token_embd.weight", type: "F32", shape: [320, 294] },
  { name: "output_norm.weight", type: "F32", shape: [320] }
];

// daemon/practice/routes.ts
var entries = [
  { methods: ["GET", "HEAD"], path: "/", route: root },
  { methods: ["GET", "HEAD"], path: "/api/version", route: version },
  { methods: ["GET"], path: "/api/status", route: status },
  { methods: ["GET", "HEAD"], path: "/api/tags", route: listModels },
  { methods: ["GET"], path: "/api/ps", route: listRunning },
  { methods: ["POST"], path: "/api/show", route: show },
  { methods: ["POST"], path: "/api/generate", route: generate },
  { methods: ["POST"], path: "/api/chat", route: chat },
  { methods: ["POST"], path: "/api/embed", route: embed },
  { methods: ["POST"], path: "/api/embeddings", route: embedOld },
  { methods: ["POST"], path: "/api/pull", route: pull },
  { methods: ["POST"], path: "/api/create", route: create },
  { methods: ["POST"], path: "/api/copy", route: copyModel },
  { methods: ["DELETE"], path: "/api/delete", route: deleteModel },
  { methods: ["HEAD"], path: "/api/blobs/", route: blobExists, open: true },
  { methods: ["POST"], path: "/api/blobs/", route: uploadBlob, open: true },
  { methods: ["POST"], path: "/api/me", route: me },
  { methods: ["POST"], path: "/api/signout", route: signOut },
  { methods: ["GET"], path: "/api/experimental/model-recommendations", route: recommendations },
  { methods: ["GET", "HEAD"], path: "/library", route: libraryPage },
  { methods: ["GET", "HEAD"], path: "/library/", route: libraryPage, open: true },
  { methods: ["GET", "HEAD"], path: "/search", route: libraryPage }
];
var stopEntry = { methods: ["DELETE"], path: "/api/ps/", route: stopModel, open: true };
function findRoute(method, path, options) {
  const known = options.stopRoute ? [...entries, stopEntry] : entries;
  const here = known.filter((entry2) => fits(entry2, path));
  const entry = here.find(({ methods }) => methods.includes(method));
  if (entry) return { route: entry.route, tail: entry.open ? decode(path.slice(entry.path.length)) : "" };
  const allow = here.flatMap(({ methods }) => methods);
  if (allow.length > 0) return { route: wrongMethod(allow), tail: "" };
  const shorter = path.replace(/\/$/, "");
  const redirect = known.some((entry2) => fits(entry2, shorter) && entry2.methods.includes(method));
  return { route: redirect ? redirectTo(shorter) : unknownRoute, tail: "" };
}
function isBlobUpload(method, path) {
  return method === "POST" && path.startsWith("/api/blobs/");
}
function fits(entry, path) {
  if (!entry.open) return path === entry.path;
  return path.startsWith(entry.path) && path.length > entry.path.length;
}
function decode(tail) {
  try {
    return decodeURIComponent(tail);
  } catch {
    return tail;
  }
}
function root({ response }) {
  answerText(response, "Ollama is running", { contentType: "text/plain; charset=utf-8" });
}
function version({ response, runner }) {
  answerJson(response, { version: runner.version });
}
function status({ response }) {
  answerJson(response, { cloud: { disabled: false, source: "none" } });
}
function unknownRoute({ response }) {
  answerText(response, "404 page not found", { status: 404 });
}
function wrongMethod(allow) {
  return ({ response }) => {
    response.setHeader("allow", allow.join(", "));
    answerText(response, "405 method not allowed", { status: 405 });
  };
}
function redirectTo(location) {
  return ({ response, request }) => {
    response.setHeader("location", location);
    if (request.method !== "GET") {
      response.writeHead(307);
      response.end();
      return;
    }
    const page = `<a href="${location}">Moved Permanently</a>.

`;
    answerText(response, page, { status: 301, contentType: "text/html; charset=utf-8" });
  };
}

// daemon/practice/dispatch.ts
function createDispatch(options) {
  const running = /* @__PURE__ */ new Set();
  return {
    answer(incoming, response) {
      const work = answerRequest(options, incoming, response);
      running.add(work);
      void work.finally(() => running.delete(work));
    },
    async settled() {
      await Promise.all(running);
    }
  };
}
async function answerRequest({ runner, log, script, onRequest }, incoming, response) {
  const watched = log.watch(incoming, response);
  const { request, signal } = watched;
  const [path = "/"] = request.path.split("?");
  try {
    const text2 = isBlobUpload(request.method, path) ? "" : await readText(incoming);
    if (text2 !== "") request.body = tryBody(text2);
    onRequest(request);
    const base = { ...watched, runner, incoming, response, text: text2 };
    const scripted = script(request);
    if (scripted?.kind === "answer") return await scripted.write(base);
    const { route, tail } = findRoute(request.method, path, runner);
    const exchange = { ...base, tail, ...scripted ? { speak: scripted.speak } : {} };
    await route(exchange);
  } catch (error) {
    answerError(response, error, signal);
  }
}
function answerError(response, error, signal) {
  if (signal.aborted || response.destroyed) return;
  if (error instanceof ApiFailure) answerJson(response, error.body, { status: error.status });
  else if (response.headersSent) response.destroy();
  else answerJson(response, { error: `practice runner: ${String(error)}` }, { status: 500 });
}

// daemon/practice/documents.ts
import { readdir, readFile } from "node:fs/promises";
import { join as join2, relative } from "node:path";

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
  return sections.map(({ heading, lines: lines2 }) => ({ file, title, heading, paragraphs: splitParagraphs(lines2) })).filter(({ paragraphs }) => paragraphs.length > 0);
}
function findSections(question, sections) {
  const asked = [...wordsOf(question)];
  const bags = sections.map(bagOf);
  const average = bags.reduce((sum, { length }) => sum + length, 0) / (bags.length || 1);
  const rarity = new Map(asked.map((word) => [word, rarityOf(word, bags)]));
  return bags.map((bag) => {
    const hits = asked.filter((word) => bag.heading.has(word) || bag.text.has(word));
    const inText = 2.2 / (1.3 + 0.9 * (bag.length / average));
    const points = hits.map((word) => {
      const weight = (bag.heading.has(word) ? 1.5 : 0) + (bag.text.has(word) ? inText : 0);
      return weight * (rarity.get(word) ?? 0);
    });
    const sum = points.reduce((total, one) => total + one, 0);
    return { section: bag.section, score: sum * hits.length / (asked.length || 1) };
  }).filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
}
function bagOf(section) {
  const text2 = section.paragraphs.join("\n");
  const heading = wordsOf(`${section.heading} ${section.title} ${section.file.replace(/\.md$/, "")}`);
  return { section, heading, text: wordsOf(text2), length: text2.length };
}
function rarityOf(word, bags) {
  const having = bags.filter(({ heading, text: text2 }) => heading.has(word) || text2.has(word)).length;
  return Math.log(1 + (bags.length - having + 0.5) / (having + 0.5));
}
function quoteSection(question, { paragraphs }) {
  const asked = wordsOf(question);
  const ranked = paragraphs.map((text2, index) => ({
    text: text2,
    index,
    hits: [...wordsOf(text2)].filter((word) => asked.has(word)).length
  })).sort((a, b) => b.hits - a.hits || a.index - b.index);
  let room = 900;
  const chosen = ranked.filter(({ text: text2, hits }, rank) => {
    if (rank > 0 && hits === 0) return false;
    const fits2 = rank === 0 || text2.length <= room;
    if (fits2) room -= text2.length;
    return fits2;
  });
  return chosen.sort((a, b) => a.index - b.index).map(({ text: text2 }) => text2.replace(/^/gm, "> ")).join("\n>\n");
}
function wordsOf(text2) {
  const words = text2.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => word.length > 1 && !smallWords.has(word)).map(stem));
}
var smallWords = new Set(
  `a about an and any are as at be by can could do does explain for from get give has have help how i if in into is it
  its let may me my no not of on or our please say show so some tell that the their them then there these they this to
  us use was we what when where which who why will with would you your hello hi hey thanks`.split(/\s+/)
);
function stem(word) {
  return word.replace(/(?:ies|y)$/, "i").replace(/(?<=\w{3})(?:ing|ed|es|s)$/, "");
}
function splitParagraphs(lines2) {
  const paragraphs = [[]];
  let fence = "";
  for (const line of lines2) {
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
function createDocuments(folder2) {
  let read;
  return { sections: () => read ??= folder2 === void 0 ? Promise.resolve([]) : readFolder(folder2) };
}
async function readFolder(folder2) {
  const names = await readdir(folder2, { recursive: true }).catch(() => []);
  const files = names.filter((name) => name.endsWith(".md")).sort().slice(0, limits.files);
  const sections = [];
  for (const file of files) {
    const path = join2(folder2, file);
    const text2 = await readFile(path, "utf8").catch(() => "");
    sections.push(...splitSections(text2.slice(0, limits.bytes), relative(folder2, path)));
  }
  return sections;
}

// daemon/practice/loadedModels.ts
var forEver2 = (2 ** 63 - 1) / 1e6;
var defaultKeepAlive = 5 * 6e4;
function createLoadedModels(now, unloadTakes) {
  const entries2 = /* @__PURE__ */ new Map();
  const keyOf2 = (model) => model.name.toLowerCase();
  function forget() {
    for (const [key, { expiresAt, running }] of entries2)
      if (running === 0 && expiresAt + unloadTakes <= now()) entries2.delete(key);
  }
  return {
    list() {
      forget();
      return [...entries2.values()].sort((a, b) => b.expiresAt - a.expiresAt);
    },
    load(model, window, keepAlive = defaultKeepAlive) {
      const { running = 0 } = entries2.get(keyOf2(model)) ?? {};
      const expiresAt = now() + Math.min(keepAlive, forEver2);
      entries2.set(keyOf2(model), { model, window, expiresAt, running });
    },
    unload(model) {
      const entry = entries2.get(keyOf2(model));
      if (entry) entries2.set(keyOf2(model), { ...entry, expiresAt: Math.min(entry.expiresAt, now()) });
    },
    use(model) {
      const change = (by) => {
        const entry = entries2.get(keyOf2(model));
        if (entry) entries2.set(keyOf2(model), { ...entry, running: entry.running + by });
      };
      change(1);
      return () => change(-1);
    }
  };
}

// daemon/practice/modelStore.ts
function createModelStore(models2, now) {
  const installed = /* @__PURE__ */ new Map();
  const blobs = /* @__PURE__ */ new Set();
  const parts = /* @__PURE__ */ new Map();
  const store = {
    list: () => [...installed.values()].sort((a, b) => b.modifiedAt - a.modifiedAt),
    find: (name) => installed.get(keyOf(name)),
    install(model) {
      const parsed = tryModelName(model.name);
      if (!parsed) throw new TypeError(`"${model.name}" is no model name.`);
      const key = nameKey(parsed);
      const name = installed.get(key)?.name ?? displayName(parsed);
      const added = { ...model, name, modifiedAt: model.modifiedAt ?? now() };
      installed.set(key, added);
      for (const { digest } of layersOf(model)) blobs.add(digest);
      return added;
    },
    remove: (name) => installed.delete(keyOf(name)),
    hasBlob: (digest) => blobs.has(digest),
    addBlob: (digest) => void blobs.add(digest),
    partOf: (digest) => parts.get(digest) ?? 0,
    keepPart(layer, completed) {
      if (completed < layer.size) parts.set(layer.digest, completed);
      else if (parts.delete(layer.digest) || !blobs.has(layer.digest)) blobs.add(layer.digest);
    }
  };
  for (const [index, model] of models2.entries())
    store.install({ modifiedAt: now() - index * 1e3, ...model });
  return store;
}
function keyOf(name) {
  const parsed = tryModelName(name);
  return parsed ? nameKey(parsed) : "";
}

// daemon/practice/practiceModels.ts
var template = "{{ if .System }}{{ .System }}\n{{ end }}{{ range .Messages }}{{ .Content }}\n{{ end }}";
var practiceModels = [
  {
    name: "practice:latest",
    description: "Quotes the documents of this project; thinks, calls tools and completes words. No language model.",
    capabilities: ["completion", "tools", "insert", "thinking"],
    contextLength: 8192,
    template: `${template}{{ if .Suffix }}{{ .Prompt }}{{ .Suffix }}{{ end }}{{ .Tools }}{{ .Think }}`
  },
  {
    name: "practice-plain:latest",
    description: "Quotes the documents of this project and does nothing else. No language model.",
    capabilities: ["completion"],
    template
  }
];
var practiceCatalog = [
  ...practiceModels,
  {
    name: "practice-guest:latest",
    description: "A model to pull, run, stop and delete. It too only quotes documents.",
    capabilities: ["completion", "tools"],
    size: 8 * 1024 * 1024,
    template,
    license: ["MIT"],
    parameters: { temperature: 0 }
  }
];

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
  const given2 = Number(/-?\d+(?:\.\d+)?/.exec(question)?.[0] ?? 1);
  const low = typeof minimum === "number" ? minimum : Number.NEGATIVE_INFINITY;
  const high = typeof maximum === "number" ? maximum : Number.POSITIVE_INFINITY;
  return Math.min(high, Math.max(low, given2));
}
function sampleText(question, name) {
  const quoted2 = /["'`“]([^"'`”]+)["'`”]/.exec(question)?.[1];
  if (/url|uri|link/i.test(name)) return /https?:\/\/\S+/.exec(question)?.[0] ?? "https://example.org/";
  if (/path|file|dir|folder/i.test(name))
    return /[\w./\\-]*\w\.\w+|[\w.-]+\/[\w./-]*/.exec(question)?.[0] ?? quoted2 ?? "README.md";
  if (/city|place|location|town|country/i.test(name)) return placeIn(question) ?? quoted2 ?? "Cologne";
  return quoted2 ?? question.trim().slice(0, 200);
}
function placeIn(question) {
  const after = new RegExp("\\b(?:in|for|at|of)\\s+(\\p{Lu}[\\p{L}-]*(?:\\s\\p{Lu}[\\p{L}-]*)*)", "u").exec(question)?.[1];
  return after ?? [...question.matchAll(new RegExp("(?<=\\S\\s)\\p{Lu}[\\p{L}-]+", "gu"))].at(-1)?.[0];
}
function mentions(question, word) {
  return word !== "" && question.toLowerCase().includes(word.toLowerCase());
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
  const text2 = question.toLowerCase();
  if (new RegExp(`(?<![\\w-])${escapePattern(name.toLowerCase())}(?![\\w-])`).test(text2)) return true;
  const words = name.split(/[_\-.\s]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  return words.length > 1 && words.every((word) => new RegExp(`\\b${escapePattern(word)}\\b`).test(text2));
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
function escapePattern(text2) {
  return text2.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

// daemon/practice/practiceSpeaker.ts
var label = "*Practice runner, not a language model.*";
function createPracticeSpeaker(documents) {
  return async function* speak(prompt) {
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
function* say(text2) {
  for (const token of splitTokens(text2)) yield { kind: "text", text: token };
}
function* think(text2) {
  for (const token of splitTokens(text2)) yield { kind: "thinking", text: token };
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
  return `From ${titleOf(section)}:

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

${shown.replace(/^/gm, "> ")}`;
}
function formatted({ format }, question) {
  const sample = isRecord(format) ? sampleOf(format, question) : { note: "Practice runner, not a language model." };
  return JSON.stringify(sample);
}
function titleOf({ file, heading }) {
  return heading === file ? `\`${file}\`` : `\`${file}\`, \u201C${heading.replace(/`/g, "")}\u201D`;
}

// daemon/practice/requestLog.ts
function createRequestLog(now, onChange) {
  const requests = [];
  const running = /* @__PURE__ */ new Set();
  return {
    requests,
    watch(incoming, response) {
      const controller = new AbortController();
      const request = recordOf2(incoming, now());
      requests.push(request);
      running.add(controller);
      response.once("close", () => {
        running.delete(controller);
        request.finished = response.writableFinished;
        request.aborted = !request.finished && !controller.signal.aborted;
        if (request.aborted) request.abortedAt = now();
        controller.abort();
        onChange(request);
      });
      const drop = () => {
        controller.abort();
        setImmediate(() => response.socket?.destroySoon());
      };
      return { request, signal: controller.signal, drop };
    },
    close() {
      for (const controller of running) controller.abort();
    }
  };
}
function recordOf2(incoming, receivedAt) {
  const { method = "GET", url = "/", headers } = incoming;
  return { method, path: url, headers, body: void 0, receivedAt, aborted: false, finished: false };
}

// daemon/practice/practiceRunner.ts
async function startPracticeRunner(options = {}) {
  const { clock = systemClock, onRequest = () => void 0, script = () => void 0 } = options;
  const log = createRequestLog(clock.now, onRequest);
  const dispatch = createDispatch({ runner: createRunner(options), log, script, onRequest });
  const server = createServer(dispatch.answer);
  const url = await listen(server, options.port ?? 0);
  return {
    url,
    requests: log.requests,
    async close() {
      log.close();
      const closed = new Promise((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await dispatch.settled();
    }
  };
}
function createRunner(options) {
  const { clock = systemClock, unloadTakes = 50 } = options;
  const documents = createDocuments(options.docs);
  return {
    clock,
    store: createModelStore(options.models ?? practiceModels, clock.now),
    loaded: createLoadedModels(clock.now, unloadTakes),
    catalog: options.catalog ?? practiceCatalog,
    speak: createPracticeSpeaker(documents),
    tokensPerSecond: options.tokensPerSecond ?? 60,
    pullStep: options.pullStep ?? 60,
    stopRoute: options.stopRoute ?? false,
    version: options.version ?? "0.31.4"
  };
}
function listen(server, port) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      const address = server.address();
      if (address === null || typeof address === "string")
        reject(new Error("The practice runner does not listen."));
      else resolve(`http://127.0.0.1:${address.port}`);
    });
  });
}

// test/support/answers.ts
import { setTimeout as wait2 } from "node:timers/promises";
function createVocabulary(add) {
  const say2 = (text2, options = {}) => add(speechOf(text2, options));
  const raw = (body, options) => add(rawOf(body, options));
  return {
    answer: add,
    say: say2,
    think: (thinking, text2) => say2(text2, { thinking }),
    toolCalls: (calls, options = {}) => say2(options.text ?? [], { ...options, calls }),
    swallowToolCall: (tokens = 31) => add({ kind: "speech", pieces: () => [{ kind: "lost", tokens }] }),
    tokens: (n, options = {}) => add({ ...speechOf([], options), pieces: () => numberedTokens(n) }),
    giantLine: (bytes) => say2(["x".repeat(bytes)]),
    slowFirstByte: (firstByteAfter, text2 = "late") => say2(text2, { firstByteAfter }),
    hang: () => add({ kind: "hang" }),
    failWith: (status2, body = { error: `failed with ${status2}` }, head = {}) => raw(typeof body === "string" ? body : encodeJson(body), { ...jsonHead, ...head, status: status2 }),
    dieMidAnswer: (lines2) => say2(
      Array.from({ length: lines2 }, (_, index) => `${index + 1} `),
      { ending: "crash" }
    ),
    endWithoutDone: (text2) => say2(text2, { ending: "cut" }),
    errorLine: (error, text2 = ["so ", "far "]) => say2(text2, { ending: { error } }),
    html: (page = "<!DOCTYPE html><html><body>A page</body></html>", status2 = 200) => raw(page, { status: status2, contentType: "text/html; charset=utf-8" }),
    redirect: (location, status2 = 302) => raw("", { status: status2, headers: { location } }),
    rawLines: (lines2, options = {}) => raw(linesToBytes(lines2), { contentType: "application/x-ndjson", ...options })
  };
}
function answerToScript(answer) {
  switch (answer.kind) {
    case "speech":
      return { kind: "speech", speak: speakerOf(answer) };
    case "raw":
      return { kind: "answer", write: (exchange) => writeRaw(exchange, answer) };
    case "hang":
      return { kind: "answer", write: ({ signal }) => aborted(signal) };
  }
}
var jsonHead = { contentType: "application/json; charset=utf-8" };
function speechOf(text2, options) {
  const { firstByteAfter, perSecond } = options;
  return {
    kind: "speech",
    pieces: () => piecesOf(text2, options),
    ...firstByteAfter === void 0 ? {} : { firstByteAfter },
    ...perSecond === void 0 ? {} : { perSecond }
  };
}
function* piecesOf(text2, options) {
  const { thinking = [], calls = [], callsInLastLine = false, ending } = options;
  for (const part of tokensOf(thinking)) yield { kind: "thinking", text: part };
  for (const part of tokensOf(text2)) yield { kind: "text", text: part };
  if (calls.length > 0) yield { kind: "calls", calls, inLastLine: callsInLastLine };
  if (ending === "cut" || ending === "crash") yield { kind: ending };
  else if (ending !== void 0) yield { kind: "failure", message: ending.error };
}
function* numberedTokens(n) {
  for (let index = 1; index <= n; index += 1) yield { kind: "text", text: `${index} ` };
}
function tokensOf(text2) {
  return typeof text2 === "string" ? splitTokens(text2) : text2;
}
function speakerOf({
  pieces,
  firstByteAfter = 0,
  perSecond = Number.POSITIVE_INFINITY
}) {
  return async function* speak({ signal }) {
    if (firstByteAfter > 0) await wait2(firstByteAfter, void 0, { signal });
    const pace = createPacer(perSecond, systemClock, signal);
    for (const piece of pieces()) {
      await pace();
      yield piece;
    }
  };
}
function rawOf(body, { cut = [], end = "complete", ...head }) {
  const bytes = Buffer.from(body);
  const offsets = typeof cut === "number" ? Array.from({ length: Math.ceil(bytes.length / cut) - 1 }, (_, index) => (index + 1) * cut) : cut;
  const writes = [0, ...offsets].map((start, index) => bytes.subarray(start, offsets[index] ?? bytes.length));
  return { kind: "raw", writes, head, end };
}
async function writeRaw({ response, signal, drop }, { writes, head, end }) {
  const { status: status2 = 200, contentType, headers } = head;
  response.writeHead(status2, { ...contentType ? { "content-type": contentType } : {}, ...headers });
  for (const bytes of writes) {
    signal.throwIfAborted();
    if (bytes.length > 0) response.write(bytes);
    if (writes.length > 1) await wait2(1, void 0, { signal });
  }
  if (end === "complete") response.end();
  else if (end === "open") await aborted(signal);
  else {
    await wait2(5, void 0, { signal });
    drop();
  }
}
function linesToBytes(lines2) {
  if (typeof lines2 === "string" || Buffer.isBuffer(lines2)) return lines2;
  return lines2.map((line) => `${typeof line === "string" ? line : encodeJson(line)}
`).join("");
}
function aborted(signal) {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

// test/support/runnerStandIn.ts
async function startStandIn(options = {}) {
  const orders = [];
  const waiters = /* @__PURE__ */ new Set();
  const runner = await startPracticeRunner({
    tokensPerSecond: Number.POSITIVE_INFINITY,
    pullStep: 0,
    unloadTakes: 20,
    ...options,
    script: (request) => nextAnswer(orders, request),
    onRequest(request) {
      options.onRequest?.(request);
      for (const waiter of [...waiters]) waiter(request);
    }
  });
  return {
    ...runner,
    ...createVocabulary((answer) => orders.push({ answer, left: 1 })),
    on: (path, times = 1) => createVocabulary((answer) => orders.push({ path, answer, left: times })),
    waitFor: (fits2, timeout = 2e3) => waitForRequest({ runner, waiters }, fits2, timeout),
    bodies: (path) => runner.requests.filter((request) => request.path === path).map(({ body }) => body)
  };
}
function nextAnswer(orders, request) {
  const path = request.path.split("?")[0];
  const index = orders.findIndex((order2) => order2.path ? order2.path === path : asksForText(request));
  const order = orders[index];
  if (!order) return void 0;
  order.left -= 1;
  if (order.left <= 0) orders.splice(index, 1);
  return answerToScript(order.answer);
}
function asksForText({ path, body }) {
  if (typeof body !== "object" || body === null) return false;
  if (path === "/api/chat")
    return "messages" in body && Array.isArray(body.messages) && body.messages.length > 0;
  if (path !== "/api/generate") return false;
  return ["prompt" in body && body.prompt, "suffix" in body && body.suffix].some(Boolean);
}
function waitForRequest({
  runner,
  waiters
}, fits2, timeout) {
  const past = runner.requests.find(fits2);
  if (past) return Promise.resolve(past);
  return new Promise((resolve, reject) => {
    const seen = () => runner.requests.map(({ method, path, aborted: aborted2 }) => `${method} ${path}${aborted2 ? " aborted" : ""}`);
    const timer = setTimeout(() => {
      waiters.delete(check);
      reject(new Error(`No such request within ${timeout} ms. There were: ${seen().join(", ") || "none"}.`));
    }, timeout);
    const check = (request) => {
      if (!fits2(request)) return;
      clearTimeout(timer);
      waiters.delete(check);
      resolve(request);
    };
    waiters.add(check);
  });
}

// test/practice/recordings.test.ts
var recordings = readRecordings();
var models = recordedModels(recordings);
var plain = models.filter(({ name }) => name === "scripted-plain");
var remote = {
  name: "bigmind:120b",
  remote: { host: "http://127.0.0.1:46545", model: "bigmind:120b" }
};
var stub = {
  ...remote,
  capabilities: ["completion", "tools", "thinking"],
  contextLength: 131072
};
var registryModel = { ...plain[0], name: "127.0.0.1:40711/tiny/plain:latest" };
var deviations = {
  "027-create-unknown-from": { skip: "error", why: "the text is that of a machine without a network" },
  "101-pull-unknown-host": { skip: "error", why: "the same" },
  "102-pull-unknown-host-not-streamed": { skip: "error", why: "the same" },
  "118-cloud-offline": { skip: "error", why: "the same, with a time stamp in it" },
  "105-pull-aborted": {
    skip: "completed",
    why: "ours tells a layer before its first bytes, as slow networks do"
  },
  "112-remote-chat": {
    skip: "metrics",
    why: "durations are what the remote host sends, and this one sent none"
  }
};
var given = {
  "002": { options: { version: "0.0.0" } },
  "004": { options: { models: [] } },
  "020": { options: { models: [] } },
  "024": { options: { models: [{ name: "bare", weights: plain[0]?.weights ?? "" }] } },
  "037": {
    before: (standIn) => post(standIn, "/api/create", {
      model: "pirate",
      from: "scripted-plain",
      system: "Talk like a pirate."
    })
  },
  "039": { before: (standIn) => load(standIn, "scripted-plain") },
  "042": { options: { unloadTakes: 6e4 }, before: loadAndUnload },
  "043": { options: { unloadTakes: 0 }, before: loadAndUnload },
  "045": { before: (standIn) => load(standIn, "scripted-plain", -1) },
  "093": {
    async before(standIn) {
      for (const name of ["scripted-thinking:1b", "scripted-plain", "scripted-hole"])
        await load(standIn, name);
    }
  },
  "094": {
    before: (standIn) => standIn.errorLine("an error was encountered while running the model: unexpected EOF", ["one", " tw"])
  },
  "096": { options: { models: [...plain.map((model) => ({ ...model, name: "pirate" }))] } },
  "098": { options: { models: [...plain.map((model) => ({ ...model, name: "pirate2" }))] } },
  "105": { options: { models: [], catalog: [registryModel] } },
  "106": { options: { models: [], catalog: [registryModel] }, before: abortPull },
  "107": { options: { models: [], catalog: [registryModel] }, before: pullAll },
  "108": { options: { models: [registryModel, ...models] } },
  "110": { options: { models: [stub, registryModel, ...models] } },
  "111": { options: { models: [stub] } },
  "112": { options: { models: [stub] }, before: (standIn) => standIn.say(["Hi"]) },
  "113": {
    options: { models: [stub] },
    before: (standIn) => standIn.failWith(
      401,
      { error: "unauthorized", signin_url: "https://ollama.com/connect?name=host&key=KEY" },
      lines
    )
  },
  "114": {
    options: { models: [stub] },
    before: (standIn) => standIn.failWith(
      429,
      {
        StatusCode: 429,
        Status: "429 Too Many Requests",
        error: "you have reached your hourly usage limit"
      },
      lines
    )
  },
  "115": {
    options: { models: [stub] },
    before: (standIn) => standIn.failWith(
      502,
      {
        StatusCode: 502,
        Status: "502 Bad Gateway",
        error: "<html><body><h1>502 Bad Gateway</h1></body></html>"
      },
      lines
    )
  },
  "116": { options: { models: [stub] }, before: (standIn) => standIn.endWithoutDone(["Hi"]) },
  "117": { options: { models: [stub] } }
};
t.test("there are recordings", async (t2) => {
  t2.equal(recordings.length, 118);
});
for (const recording of recordings) {
  const name = recording.file.replace(".json", "");
  t.test(`${name}: ${recording.note}`, async (t2) => {
    const { options = {}, before } = given[name.slice(0, 3)] ?? {};
    const standIn = await startStandIn({ models, catalog: [], ...options });
    t2.teardown(() => standIn.close());
    await before?.(standIn);
    const got = await ask(standIn, recording);
    const skip = deviations[name]?.skip;
    const { response } = recording;
    const text2 = response.chunks.map((chunk) => chunk.text).join("");
    t2.same(
      { status: got.status, ...headersOf(got.headers), lines: shapesOf(got.text, skip) },
      { status: response.status, ...headersOf(response.headers), lines: shapesOf(text2, skip) }
    );
    if (response.end === "complete" && name !== "094-chat-engine-killed")
      t2.equal(saidIn(got.text), saidIn(text2));
    if (response.end === "aborted-by-client") await standIn.waitFor(({ aborted: aborted2 }) => aborted2);
  });
}
var lines = { contentType: "application/x-ndjson" };
function ask(standIn, { request, response: recorded }) {
  const { path, body } = bytesOf(request);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      `${standIn.url}${path}`,
      { method: request.method, agent: false },
      (response) => {
        const chunks = [];
        const { statusCode: status2 = 0, headers } = response;
        const give = () => resolve({ status: status2, headers, text: wholeLines(Buffer.concat(chunks).toString()) });
        response.on("data", (chunk) => {
          chunks.push(chunk);
          if (recorded.end === "complete" || chunks.length < recorded.chunks.length) return;
          give();
          sent.destroy();
        });
        response.on("end", () => resolve({ status: status2, headers, text: Buffer.concat(chunks).toString() }));
        response.on("error", () => give());
      }
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
function bytesOf({ path, body, raw }) {
  if (raw === void 0) return { path, body: body === void 0 ? "" : JSON.stringify(body) };
  if (!/^\d+ bytes$/.test(raw)) return { path, body: raw };
  const digest = createHash4("sha256").update(raw).digest("hex");
  return { path: path.replace(/[0-9a-f]{64}/, digest), body: raw };
}
function headersOf(headers) {
  const { "content-type": contentType, allow, location } = headers;
  return { contentType, allow, location };
}
function shapesOf(text2, skip) {
  const shapes = text2.split("\n").filter((line) => line.trim() !== "").map((line) => line.startsWith("{") ? shapeOf(JSON.parse(line), skip) : line);
  return shapes.filter((shape, index) => shape !== shapes[index - 1]);
}
var valued = /* @__PURE__ */ new Set([
  "error",
  "status",
  "done",
  "done_reason",
  "role",
  "StatusCode",
  "Status",
  "signin_url",
  "model"
]);
var metrics = /_(count|duration)$/;
function shapeOf(value, skip) {
  if (Array.isArray(value)) return `[${[...new Set(value.map((one) => shapeOf(one, skip)))].join()}]`;
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const fields = Object.entries(value).filter(([key]) => !(skip === "metrics" && metrics.test(key)) && !(skip === "completed" && key === skip)).map(([key, field]) => {
    if (key === "capabilities") return `${key}:${JSON.stringify(field)}`;
    const whole = valued.has(key) && key !== skip && typeof field !== "object";
    return `${key}:${whole ? withoutDigests(String(field)) : shapeOf(field, skip)}`;
  });
  return `{${fields.map((field) => field.replace(/^practice\./, "llama.")).join()}}`;
}
function withoutDigests(text2) {
  return text2.replace(/[0-9a-f]{12,64}/g, "#").replace(/:latest$/, "");
}
function saidIn(text2) {
  const parts = text2.split("\n").flatMap((line) => {
    if (!line.startsWith("{")) return [];
    const { message: message2 = {}, response = "", thinking = "" } = JSON.parse(line);
    const { content = "", thinking: thought = "", tool_calls: calls } = message2;
    return [
      response,
      thinking,
      content,
      thought,
      calls ? JSON.stringify(calls).replace(/call_\w+/g, "call_#") : ""
    ];
  });
  return parts.join("");
}
function wholeLines(text2) {
  return text2.slice(0, text2.lastIndexOf("\n") + 1);
}
async function post(standIn, path, body) {
  const response = await fetch(`${standIn.url}${path}`, { method: "POST", body: JSON.stringify(body) });
  return response.text();
}
async function load(standIn, model, keepAlive = 300) {
  await post(standIn, "/api/chat", { model, messages: [], keep_alive: keepAlive });
}
async function loadAndUnload(standIn) {
  await load(standIn, "scripted-plain");
  await load(standIn, "scripted-plain", 0);
}
async function abortPull(standIn) {
  const aborted2 = recordings.find(({ file }) => file.startsWith("105"));
  if (aborted2) await ask(standIn, aborted2);
  await standIn.waitFor((request) => request.aborted);
}
async function pullAll(standIn) {
  await post(standIn, "/api/pull", { model: registryModel.name, stream: false });
}
