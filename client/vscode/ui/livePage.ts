import { messageOf } from '../../../protocol/base/errorText.ts';
import { errorDataOf } from '../convert/failure.ts';
import type { DatedPage, PageContent, PageSection } from './page.ts';
import { remediesFor } from './remedies.ts';

/** A page that is loaded again when something changed, while it is visible. */
export interface LivePage {
  /** Loads a page, and shows it. */
  show(load: () => Promise<PageContent>): Promise<void>;
  /** What the page is about has changed: it is loaded again now, or once it is visible. */
  refresh(): void;
  /** The tab was shown or hidden. */
  follow(isVisible: boolean): void;
  /** The tab was closed. */
  close(): void;
}

export interface LivePageOptions {
  /** Opens the tab if it is closed, and turns to it if the user asked for the page. */
  readonly draw: (page: DatedPage, isAsked: boolean) => void;
  /** Such as `14:05:10`. */
  readonly time: () => string;
}

/** A change that leaves the page as it is draws nothing, because the editor would scroll to its top. */
export function createLivePage({ draw, time }: LivePageOptions): LivePage {
  let load: (() => Promise<PageContent>) | undefined;
  let shown: PageContent | undefined;
  let isVisible = false;
  let isStale = false;
  let isLoading = false;
  const put = (page: PageContent, isAsked: boolean) => {
    if (!isAsked && JSON.stringify(page) === JSON.stringify(shown)) return;
    shown = page;
    draw({ ...page, time: time() }, isAsked);
  };
  const reload = async () => {
    const wanted = load;
    if (!wanted || !isVisible || isLoading) return;
    isLoading = true;
    isStale = false;
    const before = shown;
    const page = await wanted().catch((error) => before && withProblem(before, error));
    isLoading = false;
    // The user may have closed it, or asked for another page.
    if (wanted === load && page) put(page, false);
    if (isStale) await reload();
  };
  return {
    async show(wanted) {
      const page = await wanted();
      load = wanted;
      isVisible = true;
      put(page, true);
    },
    refresh() {
      isStale = true;
      void reload();
    },
    follow(visible) {
      isVisible = visible;
      if (isStale) void reload();
    },
    close() {
      load = undefined;
      shown = undefined;
      isVisible = false;
    },
  };
}

/**
 * The last page that is known, below the reason why there is no newer one, with what can be done about that. What the
 * page offered before may be impossible by now, such as to load a model that is gone.
 */
function withProblem(page: PageContent, error: unknown): PageContent {
  const links = remediesFor(errorDataOf(error));
  const text = `${messageOf(error)} What follows is what was known before.`;
  const [first, ...rest] = page.sections;
  const known = first?.isProblem ? rest : page.sections.map(withoutLinks);
  return { ...page, sections: [{ lines: [{ state: 'bad', text, links }], isProblem: true }, ...known] };
}

function withoutLinks({ lines, ...section }: PageSection): PageSection {
  return lines ? { ...section, lines: lines.map(({ links: _, ...line }) => line) } : section;
}
