import type { Model } from '../../../protocol/messages/models.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';
import { fullModelName } from '../../shared/words.ts';

/** What a row of a view passes to a command. */
export interface ModelRow {
  /** The runner's name for it; in a catalog's row, the name to pull. */
  readonly model: string;
  readonly server?: string | undefined;
  /** In a catalog's row. */
  readonly url?: string;
  /** In a catalog's row, such as `8b`. */
  readonly sizes?: readonly string[];
}

/** The views of models, which can reveal a model's row while they are visible. */
export interface ShownModels {
  /** For a model that was pulled or created. */
  revealInstalled(row: ModelRow): void;
  /** For a model that was loaded. */
  revealLoaded(row: ModelRow): void;
  /** The focused row of a view, such as `Local`; undefined if it is no model. */
  selected(view: string): Promise<ModelRow | undefined>;
}

/** A pull can be cancelled, and the name of its model can be copied. */
const commandsOfPulls: readonly string[] = ['runner.deleteModel', 'runner.copyModelName'];

/** Whether a command works on this row. The row of a pull is no model yet. */
export function worksOn(command: string, row: ModelRow): boolean {
  return !('cancel' in row) || commandsOfPulls.includes(command);
}

export function paramsOf(row: ModelRow): { readonly model: string; readonly server?: string } {
  return { model: row.model, ...serverOf(row) };
}

export function serverOf({ server }: Pick<ModelRow, 'server'>): { readonly server?: string } {
  return server === undefined ? {} : { server };
}

/** Whether both name the same model of the same server. */
export function isSameModel(one: ModelRow, other: ModelRow): boolean {
  return identityOf(one) === identityOf(other);
}

/** How settings, the picker and the daemon name a model: `qwen3:4b`, of another server `box/qwen3:4b`. */
export function idOf({ name, server }: Pick<Model, 'name' | 'server'>): string {
  return server === defaultServerName ? name : `${server}/${name}`;
}

function identityOf({ model, server = defaultServerName }: ModelRow): string {
  return `${server} ${fullModelName(model)}`;
}
