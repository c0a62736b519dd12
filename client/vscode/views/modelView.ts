import * as vscode from 'vscode';
import { isSameModel, type ModelRow } from '../models/modelRow.ts';
import type { RunningPulls } from '../models/pulls.ts';
import type { Parts } from '../parts.ts';
import { isFilterOn, noFilter, type RowFilter, showFilterBox } from './filter.ts';
import { endsOf } from './modelRows.ts';
import { ModelTree, type ViewNode } from './modelTree.ts';
import { createRowStore, type RowSource, viewStateOf } from './rowStore.ts';
import { type SortOrder, sortLabels, sortOrders, toSortOrder } from './treeNodes.ts';
import { createCountdown, createRowReveal } from './viewTimers.ts';

/** What one view of models is. */
interface ModelViewKind {
  /** Its own part of its id, its commands and its context keys, such as `Local`. */
  readonly name: string;
  /** Its name in the filter's box. */
  readonly title: string;
  /** According to the current settings. */
  readonly sources: () => readonly RowSource[];
  /** Downloads that are shown above the rows. */
  readonly pulls?: RunningPulls;
  /** The rows come newest first, and the user may sort them otherwise. */
  readonly canSort?: true;
  /**
   * The address of the source, or of the named one of several servers. It is shown beside the view's title while
   * nothing answers there.
   */
  readonly address: (server?: string) => string | undefined;
  /** The badge's text for a number of models; a view without it has no badge. */
  readonly badge?: (count: number) => string;
}

/** A view of models: flat or by family, whole or filtered. It loads its rows only while it is visible. */
export class ModelView implements vscode.Disposable {
  readonly #parts: Pick<Parts, 'clock' | 'facts' | 'memory'>;
  readonly #kind: ModelViewKind;
  readonly #store: ReturnType<typeof createRowStore>;
  readonly #tree: ModelTree;
  readonly #view: vscode.TreeView<ViewNode>;
  readonly #countdown: ReturnType<typeof createCountdown>;
  readonly #reveal: ReturnType<typeof createRowReveal>;
  readonly #subscriptions: vscode.Disposable;
  /** The context keys as they were last set in the editor. */
  readonly #context = new Map<string, unknown>();
  #filter = noFilter;
  #isGrouped: boolean;
  #isRevealing = false;

  constructor(parts: Pick<Parts, 'clock' | 'facts' | 'memory'>, kind: ModelViewKind) {
    const { memory, clock, facts } = parts;
    const { name, sources, pulls } = kind;
    this.#parts = parts;
    this.#kind = kind;
    this.#isGrouped = memory.get(`runner.${name}Grouped`) ?? true;
    this.#tree = new ModelTree({ ...kind, facts, isGrouped: this.#isGrouped, order: this.#order });
    this.#store = createRowStore(sources, () => this.#show());
    this.#view = vscode.window.createTreeView(this.#id, {
      treeDataProvider: this.#tree,
      showCollapseAll: true,
    });
    this.#countdown = createCountdown({
      clock,
      onTick: () => this.#tree.redraw(this.#tree.shown.filter(({ expiresAt }) => expiresAt !== undefined)),
      onEnd: () => this.refresh(),
    });
    this.#reveal = createRowReveal(clock, (model) => this.#select(model));
    this.#subscriptions = vscode.Disposable.from(
      this.#view,
      this.#tree,
      this.#countdown,
      facts.onDidChange(() => this.#tree.redraw()),
      this.#view.onDidChangeVisibility(() => this.#followVisibility()),
      pulls?.onDidChange((pull) => this.#tree.redraw(pull && [pull])) ?? nothing,
      this.#reveal,
      this.#view.onDidChangeSelection(({ selection }) => {
        if (selection.length > 0) this.#reveal.end();
      }),
      ...this.#commands(),
    );
    this.#setContext('Grouped', this.#isGrouped);
    this.#setContext('State', 'loading');
  }

  /** Reloads the rows: at once if the view is visible, or else when it becomes visible. */
  refresh(): void {
    this.#store.markStale();
    this.#updateBadge();
    if (this.#view.visible) this.#load();
  }

  /** Call when the daemon has connected, also again. A request that waits for it is not repeated. */
  connect(): void {
    if (!this.#store.isLoading) this.refresh();
  }

  /**
   * Selects the row of a model if the view is visible: now, or once the row appears. It never opens the view, and never
   * takes the focus.
   */
  reveal(model: ModelRow): void {
    this.#reveal.want(model);
  }

  /** The view's part of its command ids. */
  get name(): string {
    return this.#kind.name;
  }

  /** As in the manifest. */
  get #id(): string {
    return `runnerModels${this.name}View`;
  }

  /** Selects the focused row, and returns it. */
  async selected(): Promise<ModelRow | undefined> {
    // Arrow keys move only the focus, which an extension cannot see. On a folder, this command toggles it as Enter
    // does, because the manifest binds no other key there.
    await vscode.commands.executeCommand('list.select');
    const [node] = this.#view.selection;
    return node && 'model' in node ? node : undefined;
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  #commands(): readonly vscode.Disposable[] {
    const { name } = this;
    const toggle = `runner.toggle${name}Grouping`;
    const commands: Readonly<Record<string, () => unknown>> = {
      [toggle]: () => this.#toggle(),
      [`${toggle}ToTree`]: () => vscode.commands.executeCommand(toggle),
      [`runner.refresh${name}`]: () => this.#load(true),
      [`runner.filter${name}`]: () => this.#chooseFilter(),
      [`runner.clear${name}Filter`]: () => this.#narrow(noFilter),
      ...(this.#kind.canSort && { [`runner.sort${name}`]: () => this.#chooseOrder() }),
    };
    return Object.entries(commands).map(([id, work]) => vscode.commands.registerCommand(id, work));
  }

  /** The view was shown or hidden. */
  #followVisibility(): void {
    if (this.#view.visible && this.#store.isStale) this.#load();
    this.#updateCountdown();
    if (this.#view.visible) this.#tree.redraw();
  }

  /** The bar above the view runs until all sources have answered. */
  #load(isAsked = false): void {
    const location = { viewId: this.#id };
    void vscode.window.withProgress({ location }, () => this.#store.load(isAsked));
  }

  async #toggle(): Promise<void> {
    this.#isGrouped = !this.#isGrouped;
    await this.#parts.memory.update(`runner.${this.name}Grouped`, this.#isGrouped);
    this.#setContext('Grouped', this.#isGrouped);
    this.#tree.group(this.#isGrouped);
  }

  get #order(): SortOrder {
    return toSortOrder(this.#parts.memory.get(`runner.${this.name}Order`));
  }

  async #chooseOrder(): Promise<void> {
    const now = this.#order;
    const items = sortOrders.map((order) => ({
      label: sortLabels[order],
      description: order === now ? 'now' : '',
      order,
    }));
    const chosen = await vscode.window.showQuickPick(items, { title: `Sort ${this.#kind.title} By` });
    if (!chosen) return;
    await this.#parts.memory.update(`runner.${this.name}Order`, chosen.order);
    this.#tree.sort(chosen.order);
  }

  #chooseFilter(): void {
    showFilterBox(vscode.window.createQuickPick(), `Filter ${this.#kind.title}`, {
      rows: this.#tree.rows,
      filter: this.#filter,
      onDidChange: (filter) => this.#narrow(filter),
    });
  }

  #narrow(filter: RowFilter): void {
    this.#filter = filter;
    this.#setContext('Filtered', isFilterOn(filter));
    this.#show();
  }

  /** Shows what is known now. */
  #show(): void {
    const { outcomes, names } = this.#store;
    this.#tree.show(outcomes, this.#filter, names.length > 1);
    const shown = this.#tree.shown.length;
    const content = { outcomes, filter: this.#filter, shown, sources: names.length };
    const { condition, message } = viewStateOf(content);
    this.#setContext('State', condition);
    // The editor redraws for each of these, even if it is the same.
    if (this.#view.message !== message) this.#view.message = message;
    const isClosed = condition === 'offline' || condition === 'unauthorized';
    const description = (isClosed && this.#kind.address()) || '';
    if ((this.#view.description ?? '') !== description) this.#view.description = description;
    this.#updateBadge();
    this.#updateCountdown();
    this.#reveal.tryNow();
  }

  #select(model: ModelRow): void {
    const row = this.#tree.shown.find((shown) => isSameModel(shown, model));
    if (!row || !this.#view.visible) return;
    const [selected] = this.#view.selection;
    if (selected && 'model' in selected && isSameModel(selected, row)) return this.#reveal.end();
    // A second request could arrive after the user has turned to another view, and would open this one again.
    if (this.#isRevealing) return;
    this.#isRevealing = true;
    const done = () => {
      this.#isRevealing = false;
    };
    this.#view.reveal(row, { select: true, focus: false }).then(done, done);
  }

  /** A number that may be out of date is not shown. */
  #updateBadge(): void {
    const { badge } = this.#kind;
    const count = this.#tree.rows.length;
    const value = this.#store.isStale ? 0 : count;
    if (!badge || (this.#view.badge?.value ?? 0) === value) return;
    this.#view.badge = value === 0 ? undefined : { value, tooltip: badge(value) };
  }

  #updateCountdown(): void {
    this.#countdown.follow(endsOf(this.#tree.rows, this.#parts.clock.now()), this.#view.visible);
  }

  #setContext(key: string, value: unknown): void {
    if (this.#context.get(key) === value) return;
    this.#context.set(key, value);
    void vscode.commands.executeCommand('setContext', `runner.${this.name}${key}`, value);
  }
}

const nothing = new vscode.Disposable(() => undefined);
