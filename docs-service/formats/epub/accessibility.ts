import type { BookContents } from './bookContents.ts';

/**
 * The accessibility that the book can claim, in the words of the Schema.org accessibility vocabulary. Every claim was
 * checked in this very book.
 */
export function accessibilityOf({ chapters, pictures, cover }: BookContents): (readonly [string, string])[] {
  const shown = chapters.flatMap(({ xhtml }) => xhtml.match(/<img [^>]*>/g) ?? []);
  const hasPictures = shown.length > 0;
  const areDescribed = shown.every((picture) => !picture.includes(' alt=""'));
  const mayFlash = pictures.some(({ picture }) => picture.type === 'gif' || picture.type === 'webp');
  return [
    ['accessMode', 'textual'],
    ...(hasPictures || cover.svg === null ? [['accessMode', 'visual'] as const] : []),
    ...(areDescribed ? [['accessModeSufficient', 'textual'] as const] : []),
    ['accessibilityFeature', 'tableOfContents'],
    ['accessibilityFeature', 'readingOrder'],
    ['accessibilityFeature', 'structuralNavigation'],
    ['accessibilityFeature', 'displayTransformability'],
    ...(hasPictures && areDescribed ? [['accessibilityFeature', 'alternativeText'] as const] : []),
    ['accessibilityHazard', mayFlash ? 'unknown' : 'none'],
    ['accessibilitySummary', summaryOf(hasPictures, areDescribed)],
  ];
}

function summaryOf(hasPictures: boolean, areDescribed: boolean): string {
  const text = 'The text can be enlarged, restyled and read aloud, and its headings are in the contents.';
  if (!hasPictures) return `${text} There are no pictures except the cover.`;
  return areDescribed
    ? `${text} Each picture has a description.`
    : `${text} Some pictures have no description.`;
}
