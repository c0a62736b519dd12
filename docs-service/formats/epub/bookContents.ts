import type { BookDescription } from './bookDescription.ts';
import type { BookPicture } from './bookPictures.ts';
import type { Chapter } from './chapter.ts';
import type { Cover } from './cover.ts';

/** All that is packed. */
export interface BookContents {
  readonly description: BookDescription;
  readonly chapters: readonly Chapter[];
  readonly pictures: readonly BookPicture[];
  readonly cover: Cover;
}
