import { defaultServerName } from '../../../protocol/messages/initialize.ts';

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

/** Where the views show models: they bring one before the user's eyes, where they are visible. */
export interface ShownModels {
  /** One that was pulled or made. */
  revealInstalled(row: ModelRow): void;
  /** One that was loaded. */
  revealLoaded(row: ModelRow): void;
  /** The row that the keyboard is on in a view, such as `Local`; undefined if that is no model. */
  selected(view: string): Promise<ModelRow | undefined>;
}

/** What can be done with a model that is being pulled: it can be cancelled, and its name can be copied. */
const commandsOfPulls: readonly string[] = ['runner.deleteModel', 'runner.copyModelName'];

/** Whether a key does anything on this row. The row of a pull is no model yet. */
export function worksOn(command: string, row: ModelRow): boolean {
  return !('cancel' in row) || commandsOfPulls.includes(command);
}

export function paramsOf(row: ModelRow): { readonly model: string; readonly server?: string } {
  return { model: row.model, ...serverOf(row) };
}

export function serverOf({ server }: ModelRow): { readonly server?: string } {
  return server === undefined ? {} : { server };
}

/** Whether both are one model of one server. Without a tag, `latest` is meant; without a server, the default one. */
export function isSameModel(one: ModelRow, other: ModelRow): boolean {
  return identityOf(one) === identityOf(other);
}

function identityOf({ model, server = defaultServerName }: ModelRow): string {
  const name = model.toLowerCase();
  const hasTag = (name.split('/').at(-1) ?? '').includes(':');
  return `${server} ${name}${hasTag ? '' : ':latest'}`;
}
