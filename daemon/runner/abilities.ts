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
  throw refusal(runner, abilityOf[name]);
}

/** @throws {RunnerError} `not-supported`, if the runner lacks the ability. */
export function requireAbility(runner: Runner, ability: Ability): void {
  if (!runner.facts.can.includes(ability)) throw refusal(runner, ability);
}

/** The error for an ability that a runner lacks. */
export function refusal(
  { facts: { product }, server }: Pick<Runner, 'facts' | 'server'>,
  capability: Ability,
): RunnerError {
  return new RunnerError('not-supported', refusalOf(product, capability, server.url), {
    details: { capability, server: server.name },
  });
}
