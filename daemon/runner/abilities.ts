import { refusalOf } from '../../protocol/messages/abilities.ts';
import type { Ability } from '../../protocol/messages/status.ts';
import { RunnerError } from '../base/errors.ts';
import type { Runner } from './runner.ts';

/** A member of a runner that may be absent. */
type Optional = 'load' | 'unload' | 'remove' | 'pull' | 'creation';

const abilityOf: Readonly<Record<Optional, Ability>> = {
  load: 'load',
  unload: 'unload',
  remove: 'delete',
  pull: 'pull',
  creation: 'create',
};

/**
 * The member of the runner.
 * @throws {RunnerError} `not-supported` with the ability as its `capability`, if the runner lacks it.
 */
export function required<K extends Optional>(runner: Runner, name: K): NonNullable<Runner[K]> {
  const found = runner[name];
  if (found !== undefined) return found;
  const capability = abilityOf[name];
  throw new RunnerError('not-supported', refusalOf(runner.facts.product, capability, runner.server.url), {
    details: { capability, server: runner.server.name },
  });
}
