import type { BaseUrl } from '../base/baseUrl.ts';
import type { Renditions } from '../formats/renditions.ts';
import type { PublicLibrary } from '../library/publicLibrary.ts';
import type { PublicSearch } from '../library/publicSearch.ts';
import type { FindAlias } from '../library/wholeIndex.ts';
import type { LibrarySearch } from '../meaning/librarySearch.ts';
import type { DocumentIndex } from '../search/documentIndex.ts';
import type { SendAnswer } from './answers.ts';
import type { Authorization } from './authorization.ts';
import type { Lookups } from './lookups.ts';
import type { Site } from './pages.ts';
import type { OwnerSession } from './signIn/ownerSessions.ts';

/** What the routes of the service share. */
export interface Services {
  readonly index: DocumentIndex;
  readonly search: LibrarySearch;
  readonly renditions: Renditions;
  readonly lookups: Lookups;
  readonly findAlias: FindAlias;
  readonly sendAnswer: SendAnswer;
  readonly readPublic: () => Promise<PublicLibrary>;
  readonly publicSearch: PublicSearch;
  readonly authorization: Authorization;
  readonly owner: OwnerSession;
  readonly baseUrl: BaseUrl;
  readonly site: Site;
  /** The authorization server: this service itself, or another one. */
  readonly issuer: string;
}
