import { withoutUndefined } from '../../protocol/base/json.ts';
import type { Capability, CapabilityName, ContextLength } from '../../protocol/messages/models.ts';
import type { ModelOverride } from '../../protocol/messages/settings.ts';
import { createEmitter } from '../base/event.ts';
import type { Turns } from '../runner/chatTemplate.ts';
import type { ListedModel, Server, ShownModel } from '../runner/runner.ts';
import { isThinkingName, modelKey, tryModelName } from './name.ts';

/** How many models something is kept about. A runner may name different models each time. */
const maxKnown = 20_000;

/** The identifier of a model across servers. */
export function modelId(server: Server, model: string): string {
  return `${server.url} ${modelKey(model)}`;
}

/**
 * What each model can do, how large its window is, and how the daemon learnt that. There is one for each daemon; it
 * lives as long as the session.
 */
export class ModelCapabilities {
  readonly #known = new Map<string, ModelKnowledge>();
  /** The models that were loaded, by the server's address. */
  readonly #loaded = new Map<string, string>();
  /** Identifiers of models that have answered, but that were not among the loaded ones since. */
  readonly #unlisted = new Set<string>();
  /** Identifiers by names as they are written: a name is read once, however often a list has it. */
  readonly #ids = new Map<string, string>();
  readonly #visionByModelId = new Map<string, boolean>();
  /**
   * Whether each model has vision, if that is known. The key is the model's identifier: the server's address, a blank,
   * the model's key.
   */
  readonly visionByModelId: ReadonlyMap<string, boolean> = this.#visionByModelId;
  /** What the user says, by the keys of models. A name without a tag has a key without one. */
  #overrides: ReadonlyMap<string, ModelOverride> = new Map();
  readonly #replaced = createEmitter<string>();
  readonly #otherLoaded = createEmitter<Server>();
  readonly #templateShown = createEmitter<{ readonly model: string; readonly template: string }>();

  /** The digest of the model with this identifier changed. Everything else that is kept about it is stale. */
  readonly onDidReplace = this.#replaced.event;
  /** The template of a model is known, for the first time. The runner does not read calls for such a model itself. */
  readonly onDidShowTemplate = this.#templateShown.event;
  /** The server has other models loaded than when it was last asked. */
  readonly onDidLoad = this.#otherLoaded.event;

  /** Takes what the user says of models, by their names. It overrides what is learnt. Returns whether it is news. */
  configure(overrides: Readonly<Record<string, ModelOverride>>): boolean {
    const before = JSON.stringify([...this.#overrides]);
    this.#overrides = new Map(Object.entries(overrides).map(([name, said]) => [overrideKey(name), said]));
    if (JSON.stringify([...this.#overrides]) === before) return false;
    for (const [id, found] of this.#known) {
      found.configured = this.#overrideOf(id);
      this.#noteVision(found, id);
    }
    return true;
  }

  learnListed(server: Server, models: readonly ListedModel[]): void {
    for (const model of models) {
      const id = this.#idOf(server, model.name);
      const found = this.#entryWithDigest(id, model.digest ?? model.mark);
      if (model.capabilities) found.listed = new Set(model.capabilities);
      found.lacking = model.lacks;
      found.isRemote = model.remoteHost !== undefined;
      if (model.maximumContext) found.maximumContext = model.maximumContext;
      this.#noteVision(found, id);
    }
  }

  learnRunning(server: Server, models: readonly ListedModel[]): void {
    const running = new Set(models.map(({ name }) => this.#idOf(server, name)));
    for (const [id, found] of this.#known)
      if (id.startsWith(`${server.url} `) && !running.has(id)) delete found.allocatedContext;
    for (const { name, digest, allocatedContext } of models)
      if (allocatedContext)
        this.#entryWithDigest(this.#idOf(server, name), digest).allocatedContext = allocatedContext;
    for (const id of running) this.#unlisted.delete(id);
    const before = this.#loaded.get(server.url);
    const now = [...running].sort().join('\n');
    this.#loaded.set(server.url, now);
    if (before !== undefined && before !== now) this.#otherLoaded.fire(server);
  }

  /** The model answered, so it is loaded: if the last list of loaded models lacks it, that is a change. */
  noteUsed(server: Server, model: string): void {
    const [id, before] = [this.#idOf(server, model), this.#loaded.get(server.url)];
    if (before === undefined || before.split('\n').includes(id) || this.#unlisted.has(id)) return;
    // A server may never list it.
    this.#unlisted.add(id);
    this.#otherLoaded.fire(server);
  }

  learnShown(server: Server, model: string, show: ShownModel): void {
    const id = this.#idOf(server, model);
    const found = this.#entryAt(id);
    found.isShown = show.isPartial !== true;
    if (show.capabilities) found.shown = new Set(show.capabilities);
    if (show.turns) found.turns = show.turns;
    if (show.system !== undefined) found.system = show.system;
    const hasParser = /^PARSER /m.test(show.modelfile ?? '');
    if (show.template !== undefined && !found.hasTemplate && !hasParser)
      this.#templateShown.fire({ model, template: show.template });
    found.hasTemplate ||= show.template !== undefined;
    found.opensThinking = show.opensThinking === true;
    found.leavesCalls = show.leavesCalls === true;
    if (show.remoteHost !== undefined) found.isRemote = true;
    if (show.maximumContext) found.maximumContext = show.maximumContext;
    if (show.configuredContext) found.modelfileContext = show.configuredContext;
    this.#noteVision(found, id);
  }

  /** Records the digest that the model had when something was learnt about it earlier. */
  learnDigest(server: Server, model: string, digest: string): void {
    this.#entryWithDigest(this.#idOf(server, model), digest);
  }

  digest(server: Server, model: string): string | undefined {
    return this.#entry(server, model).digest;
  }

  /** Records that the model did or refused something. */
  observe(server: Server, model: string, observation: { capability: CapabilityName; value: boolean }): void {
    const id = this.#idOf(server, model);
    const found = this.#entryAt(id);
    found.observed.set(observation.capability, observation.value);
    if (observation.capability === 'vision') this.#noteVision(found, id);
  }

  /**
   * Records how a prompt fitted into a window that no request changes: the window that a refusal named, or the tokens
   * of a prompt that was accepted, which may show that the server was started again with a larger one.
   */
  observeWindow(server: Server, model: string, seen: { refusedAt: number } | { accepted: number }): void {
    const found = this.#entry(server, model);
    if ('refusedAt' in seen) found.observedContext = seen.refusedAt;
    else if (seen.accepted > (found.observedContext ?? seen.accepted)) delete found.observedContext;
  }

  /** Records that an answer of the model had thinking, either separate or as tags in its text. */
  noteThought(server: Server, model: string): void {
    this.#entry(server, model).hasThought = true;
  }

  /** Records whether an answer of the model has begun inside thinking; undefined if it shows neither. */
  noteStart(server: Server, model: string, inThinking: boolean | undefined): void {
    const found = this.#entry(server, model);
    if (inThinking) found.startsInThinking = (found.startsInThinking ?? 0) + 1;
    else if (inThinking === false || !this.startsInThinking(server, model)) found.startsInThinking = 0;
  }

  /** Records that the model has refused a level of thinking. */
  noteNoLevels(server: Server, model: string): void {
    this.#entry(server, model).refusesLevels = true;
  }

  /**
   * Whether answers of the model begin inside thinking: its template opens it, or an earlier answer showed it. A model
   * that nothing else calls a thinking model may have written about such tags, so it must have shown it twice.
   */
  startsInThinking(server: Server, model: string): boolean {
    const { opensThinking, startsInThinking = 0 } = this.#entry(server, model);
    return opensThinking === true || startsInThinking >= (this.thinks(server, model) ? 1 : 2);
  }

  /** Whether calls are expected in the text of its answers. */
  leavesCalls(server: Server, model: string): boolean {
    return this.#entry(server, model).leavesCalls === true;
  }

  /**
   * Whether the output of the model is read as that of a thinking model: because its server reports it, because it was
   * observed, or because of its name. A runner that refuses requests for thinking does not change how the model writes.
   * What the user says decides.
   */
  thinks(server: Server, model: string): boolean {
    const found = this.#entry(server, model);
    const { value } = capabilityOf(found, model, 'thinking');
    const isShown = found.hasThought === true || value === true || isThinkingName(model);
    return found.configured?.thinking ?? isShown;
  }

  capability(server: Server, model: string, name: CapabilityName): Capability {
    return capabilityOf(this.#entry(server, model), model, name);
  }

  /** Everything that a list says about a model. */
  about(server: Server, model: string): ModelAbilities {
    const found = this.#entry(server, model);
    const capabilities = {
      completion: capabilityOf(found, model, 'completion'),
      tools: capabilityOf(found, model, 'tools'),
      vision: capabilityOf(found, model, 'vision'),
      thinking: capabilityOf(found, model, 'thinking'),
      insert: capabilityOf(found, model, 'insert'),
      embedding: capabilityOf(found, model, 'embedding'),
    };
    const levels = found.refusesLevels ? { thinkingLevels: false as const } : {};
    return { capabilities, context: contextOf(found), ...levels };
  }

  context(server: Server, model: string): ContextLength {
    return contextOf(this.#entry(server, model));
  }

  /** Whether its server is known to forward its requests to another host. */
  isRemote(server: Server, model: string): boolean {
    return this.#entry(server, model).isRemote === true;
  }

  /** Whether its prompts have turns; undefined if that was not asked. */
  turns(server: Server, model: string): Turns | undefined {
    return this.#entry(server, model).turns;
  }

  /** Its own message of the system, as far as that is known. */
  system(server: Server, model: string): string | undefined {
    return this.#entry(server, model).system;
  }

  /** Whether `show` has been asked since the model's digest last changed. */
  isShown(server: Server, model: string): boolean {
    return this.#entry(server, model).isShown === true;
  }

  #idOf(server: Server, model: string): string {
    const written = `${server.url} ${model}`;
    const found = this.#ids.get(written);
    if (found !== undefined) return found;
    if (this.#ids.size >= maxKnown) this.#ids.clear();
    const id = modelId(server, model);
    this.#ids.set(written, id);
    return id;
  }

  #entry(server: Server, model: string): ModelKnowledge {
    return this.#entryAt(this.#idOf(server, model));
  }

  #entryAt(id: string): ModelKnowledge {
    const found = this.#known.get(id);
    if (found) return found;
    const fresh = this.#addEntry(id);
    if (this.#known.size > maxKnown) this.#forgetOldest();
    return fresh;
  }

  #addEntry(id: string, digest?: string): ModelKnowledge {
    const fresh: ModelKnowledge = { observed: new Map(), configured: this.#overrideOf(id) };
    if (digest !== undefined) fresh.digest = digest;
    this.#known.set(id, fresh);
    this.#noteVision(fresh, id);
    return fresh;
  }

  #overrideOf(id: string): ModelOverride | undefined {
    if (this.#overrides.size === 0) return undefined;
    const key = id.slice(id.indexOf(' ') + 1);
    return { ...this.#overrides.get(withoutTag(key)), ...this.#overrides.get(key) };
  }

  #forgetOldest(): void {
    const [oldest] = this.#known.keys();
    if (oldest === undefined) return;
    this.#known.delete(oldest);
    this.#visionByModelId.delete(oldest);
  }

  /** The entry for a digest. Another digest means another model, and nothing that was known applies to it. */
  #entryWithDigest(id: string, digest: string | undefined): ModelKnowledge {
    const found = this.#entryAt(id);
    if (digest === undefined || found.digest === digest) return found;
    if (found.digest === undefined) return Object.assign(found, { digest });
    const fresh = this.#addEntry(id, digest);
    this.#replaced.fire(id);
    return fresh;
  }

  #noteVision(found: ModelKnowledge, id: string): void {
    const { value } = capabilityOf(found, id, 'vision');
    if (value === 'unknown') this.#visionByModelId.delete(id);
    else this.#visionByModelId.set(id, value);
  }
}

interface ModelAbilities {
  readonly thinkingLevels?: false;
  readonly capabilities: Readonly<Record<CapabilityName, Capability>>;
  readonly context: ContextLength;
}

/** What is known about one model of one server. A new digest discards it. */
interface ModelKnowledge {
  digest?: string;
  /** From `show`, which is complete: the model lacks what it does not name. */
  shown?: ReadonlySet<string>;
  /** `show` was asked. On old servers even its answer has no capabilities. */
  isShown?: boolean;
  /** From the list, which may be incomplete: the model has what it names. */
  listed?: ReadonlySet<string>;
  /** From the list too: the model lacks it. */
  lacking?: readonly CapabilityName[] | undefined;
  readonly observed: Map<CapabilityName, boolean>;
  /** What the user says. */
  configured: ModelOverride | undefined;
  /** One of its answers had thinking. */
  hasThought?: boolean;
  /** It can be told whether to think, but not how much. */
  refusesLevels?: boolean;
  /** Its template was reported. */
  hasTemplate?: boolean;
  /** Its template opens thinking. */
  opensThinking?: boolean;
  /** Its server leaves calls in the text. */
  leavesCalls?: boolean;
  /** How many answers in a row have closed thinking that they had not opened. */
  startsInThinking?: number;
  isRemote?: boolean;
  turns?: Turns;
  system?: string;
  maximumContext?: number;
  allocatedContext?: number;
  modelfileContext?: number;
  /** The window that a refusal named. */
  observedContext?: number;
}

/** Without its tag a name stands for all its tags, and not only for `latest`. */
function overrideKey(name: string): string {
  const key = modelKey(name);
  return tryModelName(name)?.tag === undefined ? withoutTag(key) : key;
}

function withoutTag(key: string): string {
  return key.replace(/:[^:/]*$/, '');
}

/**
 * What the user says overrides an observation, that overrides what the server says, and that overrides what the name
 * suggests.
 */
function capabilityOf(known: ModelKnowledge, model: string, name: CapabilityName): Capability {
  const { observed, shown, listed, lacking } = known;
  const said = known.configured && Reflect.get(known.configured, name);
  if (typeof said === 'boolean') return { value: said, from: 'configured' };
  const seen = observed.get(name);
  if (seen !== undefined) return { value: seen, from: 'observed' };
  if (shown) return { value: shown.has(name), from: 'server' };
  if (listed?.has(name)) return { value: true, from: 'server' };
  if (lacking?.includes(name)) return { value: false, from: 'server' };
  if (name === 'thinking' && isThinkingName(model)) return { value: true, from: 'name' };
  return { value: 'unknown', from: 'server' };
}

/** What the server says of a loaded model counts more than what a refusal has shown. */
function contextOf(known: ModelKnowledge): ContextLength {
  const { allocatedContext, observedContext, modelfileContext, maximumContext } = known;
  const isObserved = allocatedContext === undefined && observedContext !== undefined;
  const isSaid = (allocatedContext ?? modelfileContext ?? maximumContext) !== undefined;
  return withoutUndefined<ContextLength>({
    allocated: allocatedContext ?? observedContext,
    configured: modelfileContext,
    maximum: maximumContext,
    from: isObserved ? 'observed' : isSaid ? 'server' : undefined,
  });
}
