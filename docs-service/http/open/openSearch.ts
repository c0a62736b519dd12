import { cutText } from '../../../protocol/base/text.ts';
import { escapeXml, visibleText } from '../../formats/markdown/xmlText.ts';

/**
 * What a browser needs to search the library from its address bar (OpenSearch 1.1).
 * @param href the address of the service, without a final slash
 */
export function openSearch(title: string, href: string): string {
  const name = visibleText(title) || 'runner-docs';
  const address = escapeXml(href);
  return `<?xml version="1.0" encoding="utf-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${escapeXml(cutText(name, maxShortName).trim())}</ShortName>
<LongName>${escapeXml(cutText(name, maxLongName).trim())}</LongName>
<Description>${escapeXml(cutText(`Search ${name}`, maxDescription))}</Description>
<Url type="text/html" template="${address}/read?q={searchTerms}"/>
<Url type="application/opensearchdescription+xml" rel="self" template="${address}/opensearch.xml"/>
<InputEncoding>UTF-8</InputEncoding>
<OutputEncoding>UTF-8</OutputEncoding>
</OpenSearchDescription>
`;
}

/** In characters, as the specification has them. */
const maxShortName = 16;
const maxLongName = 48;
const maxDescription = 1_024;
