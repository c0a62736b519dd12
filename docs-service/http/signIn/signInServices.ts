import type { AccessStores } from '../../auth/accessStores.ts';
import type { ClientDocuments } from '../../auth/clientDocuments.ts';
import type { PasswordCheck } from '../../auth/passwords.ts';
import type { TokenIssuer } from '../../auth/tokenIssuer.ts';
import type { Services } from '../services.ts';
import type { OwnerSessions } from './ownerSessions.ts';

/** What the routes of the sign-in share. */
export interface SignInServices
  extends Pick<AccessStores, 'clients' | 'owners'>,
    Pick<Services, 'baseUrl' | 'site' | 'authorization'> {
  readonly documents: ClientDocuments;
  /** Whether clients may register themselves. */
  readonly takesRegistrations: boolean;
  /** The flags that commands need for this very service, such as `--data /srv/docs`; for pages that show a command. */
  readonly dataHint: string;
  readonly sessions: OwnerSessions;
  readonly issuer: TokenIssuer;
  readonly passwords: PasswordCheck;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}
