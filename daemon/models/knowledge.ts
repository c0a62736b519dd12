import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { Capability, CapabilityName, ContextLength } from '../../protocol/messages/models.ts';
import { createEmitter, type Event } from '../base/event.ts';
import type { Turns } from '../runner/chatTemplate.ts';
import type { Server } from '../runner/client.ts';
import type { WireModel, WireShow } from '../runner/wire.ts';
import { modelKey } from './name.ts';
import { isThinkingName } from './thinking.ts';

/** What is known about one model of one server. A new digest discards it. */
interface Known {
  digest?: string;
  /** From `show`, which is complete: the model lacks what it does not name. */
  shown?: ReadonlySet<string>;
  /** `show` was asked. On old servers even its answer has no capabilities. */
  isShown?: boolean;
  /** From the list, which may be incomplete: the model has what it names. */
  listed?: ReadonlySet<string>;
  readonly observed: Map<CapabilityName, boolean>;
  /** One of its answers had thinking. */
  hasThought?: boolean;
  /** Its template opens thinking. */
  opensThinking?: boolean;
  /** An answer closed thinking that it had not opened, and none since then has shown otherwise. */
  hasBegunInThinking?: boolean;
  isRemote?: boolean;
  turns?: Turns;
  maximumContext?: number;
  allocatedContext?: number;
  modelfileContext?: number;
}

/**
 * What each model can do, how large its window is, and how the daemon learnt that. There is one for each daemon; it
 * lives as long as the session.
 */
export interface ModelKnowledge {
  /** The digest of the model with this identifier changed. Everything else that is kept about it is stale. */
  readonly onDidReplace: Event<string>;
  /** The server has other models loaded than when it was last asked. */
  readonly onDidLoad: Event<Server>;
  learnListed(server: Server, models: readonly WireModel[]): void;
  learnRunning(server: Server, models: readonly WireModel[]): void;
  learnShown(server: Server, model: string, show: WireShow): void;
  /** Records the digest that the model had when something was learnt about it earlier. */
  learnDigest(server: Server, model: string, digest: string): void;
  digest(server: Server, model: string): string | undefined;
  /** Records that the model did or refused something. */
  observe(server: Server, model: string, observation: { capability: CapabilityName; value: boolean }): void;
  /** Records that an answer of the model had thinking, either separate or as tags in its text. */
  noteThought(server: Server, model: string): void;
  /** Records whether an answer of the model has begun inside thinking. */
  noteStart(server: Server, model: string, inThinking: boolean): void;
  /** Whether answers of the model begin inside thinking: its template opens it, or an earlier answer showed it. */
  startsInThinking(server: Server, model: string): boolean;
  /**
   * Whether the output of the model is read as that of a thinking model: because its server reports it, because it was
   * observed, or because of its name. A runner that refuses requests for thinking does not change how the model writes.
   */
  thinks(server: Server, model: string): boolean;
  capability(server: Server, model: string, name: CapabilityName): Capability;
  /** Everything that a list says about a model. */
  about(server: Server, model: string): ModelAbilities;
  context(server: Server, model: string): ContextLength;
  /** Whether its server is known to forward its requests to another host. */
  isRemote(server: Server, model: string): boolean;
  /** Whether its prompts have turns; undefined if that was not asked. */
  turns(server: Server, model: string): Turns | undefined;
  /** Whether `show` has been asked since the model's digest last changed. */
  isShown(server: Server, model: string): boolean;
  /**
   * Whether each model has vision, if that is known. The key is the model's identifier: the server's address, a blank,
   * the model's key.
   */
  readonly visionByModelId: ReadonlyMap<string, boolean>;
}

export interface ModelAbilities {
  readonly capabilities: Readonly<Record<CapabilityName, Capability>>;
  readonly context: ContextLength;
}

/** How many models something is kept about. A runner may name different models each time. */
const maxKnown = 20_000;

/** The identifier of a model across servers. */
export function modelId(server: Server, model: string): string {
  return `${server.url} ${modelKey(model)}`;
}

export function createModelKnowledge(): ModelKnowledge {
  const replaced = createEmitter<string>();
  const otherLoaded = createEmitter<Server>();
  const known = new Map<string, Known>();
  /** The models that were loaded, by the server's address. */
  const loaded = new Map<string, string>();
  const visionByModelId = new Map<string, boolean>();

  /** A name is read once, however often a list has it. */
  const ids = new Map<string, string>();
  const idOf = (server: Server, model: string): string => {
    const written = `${server.url} ${model}`;
    const found = ids.get(written);
    if (found !== undefined) return found;
    if (ids.size >= maxKnown) ids.clear();
    const id = modelId(server, model);
    ids.set(written, id);
    return id;
  };

  const entry = (server: Server, model: string): Known => entryAt(idOf(server, model));

  const entryAt = (id: string): Known => {
    const found = known.get(id);
    if (found) return found;
    const fresh: Known = { observed: new Map() };
    known.set(id, fresh);
    if (known.size > maxKnown) forgetOldest();
    return fresh;
  };

  const forgetOldest = () => {
    const [oldest] = known.keys();
    if (oldest === undefined) return;
    known.delete(oldest);
    visionByModelId.delete(oldest);
  };

  /** The entry for a digest. Another digest means another model, and nothing that was known applies to it. */
  const entryOf = (id: string, { digest }: WireModel): Known => {
    const found = entryAt(id);
    if (digest === undefined || found.digest === digest) return found;
    const isAnother = found.digest !== undefined;
    const fresh = isAnother
      ? { digest, observed: new Map<CapabilityName, boolean>() }
      : Object.assign(found, { digest });
    known.set(id, fresh);
    if (isAnother) {
      visionByModelId.delete(id);
      replaced.fire(id);
    }
    return fresh;
  };

  const capability = (server: Server, model: string, name: CapabilityName) =>
    capabilityOf(entry(server, model), model, name);

  const noteVision = (found: Known, id: string, model: string) => {
    const { value } = capabilityOf(found, model, 'vision');
    if (value !== 'unknown') visionByModelId.set(id, value);
  };

  return {
    onDidReplace: replaced.event,
    onDidLoad: otherLoaded.event,
    visionByModelId,
    capability,
    learnListed(server, models) {
      for (const model of models) {
        const id = idOf(server, model.name);
        const found = entryOf(id, model);
        if (model.capabilities) found.listed = new Set(model.capabilities);
        found.isRemote = model.remoteHost !== undefined;
        if (model.maximumContext) found.maximumContext = model.maximumContext;
        noteVision(found, id, model.name);
      }
    },
    learnRunning(server, models) {
      const running = new Map(models.map((model) => [idOf(server, model.name), model.allocatedContext]));
      for (const [id, found] of known) {
        if (id.startsWith(`${server.url} `) && !running.has(id)) delete found.allocatedContext;
      }
      for (const model of models) {
        if (model.allocatedContext)
          entryOf(idOf(server, model.name), model).allocatedContext = model.allocatedContext;
      }
      const before = loaded.get(server.url);
      const now = [...running.keys()].sort().join('\n');
      loaded.set(server.url, now);
      if (before !== undefined && before !== now) otherLoaded.fire(server);
    },
    learnShown(server, model, show) {
      const id = idOf(server, model);
      const found = entryAt(id);
      found.isShown = true;
      if (show.capabilities) found.shown = new Set(show.capabilities);
      if (show.turns) found.turns = show.turns;
      found.opensThinking = show.opensThinking === true;
      if (show.remoteHost !== undefined) found.isRemote = true;
      if (show.maximumContext) found.maximumContext = show.maximumContext;
      const configured = /^num_ctx\s+(\d+)\s*$/m.exec(show.parameters ?? '')?.[1];
      if (configured) found.modelfileContext = Number(configured);
      noteVision(found, id, model);
    },
    observe(server, model, { capability: name, value }) {
      const id = idOf(server, model);
      entryAt(id).observed.set(name, value);
      if (name === 'vision') noteVision(entryAt(id), id, model);
    },
    learnDigest(server, model, digest) {
      entryOf(idOf(server, model), { name: model, digest });
    },
    digest: (server, model) => entry(server, model).digest,
    noteThought(server, model) {
      entry(server, model).hasThought = true;
    },
    noteStart(server, model, inThinking) {
      entry(server, model).hasBegunInThinking = inThinking;
    },
    startsInThinking(server, model) {
      const { opensThinking, hasBegunInThinking } = entry(server, model);
      return opensThinking === true || hasBegunInThinking === true;
    },
    thinks(server, model) {
      const found = entry(server, model);
      const { value } = capabilityOf(found, model, 'thinking');
      return found.hasThought === true || value === true || isThinkingName(model);
    },
    about(server, model) {
      const found = entry(server, model);
      const capabilities = {
        completion: capabilityOf(found, model, 'completion'),
        tools: capabilityOf(found, model, 'tools'),
        vision: capabilityOf(found, model, 'vision'),
        thinking: capabilityOf(found, model, 'thinking'),
        insert: capabilityOf(found, model, 'insert'),
        embedding: capabilityOf(found, model, 'embedding'),
      };
      return { capabilities, context: contextOf(found) };
    },
    context: (server, model) => contextOf(entry(server, model)),
    isRemote: (server, model) => entry(server, model).isRemote === true,
    turns: (server, model) => entry(server, model).turns,
    isShown: (server, model) => entry(server, model).isShown === true,
  };
}

/** An observation overrides what the server says, and that overrides what the name suggests. */
function capabilityOf({ observed, shown, listed }: Known, model: string, name: CapabilityName): Capability {
  const seen = observed.get(name);
  if (seen !== undefined) return { value: seen, from: 'observed' };
  if (shown) return { value: shown.has(name), from: 'server' };
  if (listed?.has(name)) return { value: true, from: 'server' };
  if (name === 'thinking' && isThinkingName(model)) return { value: true, from: 'name' };
  return { value: 'unknown', from: 'server' };
}

function contextOf({ allocatedContext, modelfileContext, maximumContext }: Known): ContextLength {
  return withoutUndefined({
    allocated: allocatedContext,
    configured: modelfileContext,
    maximum: maximumContext,
  });
}
