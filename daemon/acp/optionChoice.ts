import type { SetSessionConfigOptionRequest } from '@agentclientprotocol/sdk';
import { InvalidParamsError, RunnerError } from '../base/errors.ts';
import type { Core } from '../compose/core.ts';
import type { Offer } from './offer.ts';
import { isThinkingChoice, modelPicker, thinkingPicker } from './pickers.ts';
import type { Session } from './sessions.ts';

interface OptionChoiceParts {
  readonly core: Pick<Core, 'chatModels' | 'servers'>;
  readonly offer: Offer;
  readonly signal: AbortSignal;
}

/**
 * What the user chose in a picker of the session.
 * @throws {InvalidParamsError} where there is no such picker, or no such choice in it.
 */
export async function chooseOption(
  session: Session,
  { configId, value }: SetSessionConfigOptionRequest,
  { core, offer, signal }: OptionChoiceParts,
): Promise<void> {
  if (configId === thinkingPicker) return chooseThinking(session, value);
  if (configId !== modelPicker) throw new InvalidParamsError('configId', `there is no option "${configId}"`);
  const name = await chooseModel(session, { value, offer, signal });
  session.standsInFor = undefined;
  await core.chatModels.choose(core.servers.client(), name);
}

function chooseThinking(session: Session, value: unknown): void {
  if (!isThinkingChoice(value)) throw new InvalidParamsError('value', 'it is none of the choices');
  session.thinking = value;
}

/** One that is not known may be new; a runner that does not answer leaves what is known. */
async function chooseModel(
  session: Session,
  { value, offer, signal }: { value: unknown; offer: Offer; signal: AbortSignal },
): Promise<string> {
  const find = () => offer.models.find(({ name }) => name === value);
  if (!find())
    await offer.list(signal).catch((error) => {
      if (!(error instanceof RunnerError)) throw error;
    });
  const chosen = find();
  if (!chosen) throw new InvalidParamsError('value', `there is no model "${String(value)}" that can chat`);
  session.model = chosen.name;
  return chosen.name;
}
