import type { Memento } from 'vscode';
import { isSameModel, type ModelRow, paramsOf } from './modelRow.ts';

/** The pulls of this window that neither ended nor were cancelled before it closed. */
export interface InterruptedPulls {
  /** Those of the window's last run. */
  readonly left: readonly ModelRow[];
  begin(row: ModelRow): void;
  end(row: ModelRow): void;
}

const memoryKey = 'runner.pullsUnderWay';

/** `memory` is the workspace's: another window must not take a pull that is under way for one that was interrupted. */
export function createInterruptedPulls(memory: Memento): InterruptedPulls {
  const left = memory.get<readonly ModelRow[]>(memoryKey) ?? [];
  let underWay: readonly ModelRow[] = [];
  const keep = (rows: readonly ModelRow[]) => {
    underWay = rows;
    void memory.update(memoryKey, rows.map(paramsOf));
  };
  if (left.length > 0) keep([]);
  const without = (row: ModelRow) => underWay.filter((one) => !isSameModel(one, row));
  return {
    left,
    begin: (row) => keep([...without(row), row]),
    end: (row) => keep(without(row)),
  };
}
