import { SaxesParser } from 'saxes';

/** Whether a fragment is well-formed XML, by a strict parser. */
export function isWellFormed(fragment: string): boolean {
  let isGood = true;
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', () => {
    isGood = false;
  });
  parser.write(
    `<body xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">${fragment}</body>`,
  );
  parser.close();
  return isGood;
}

export function idsIn(fragment: string): string[] {
  return [...fragment.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id);
}
