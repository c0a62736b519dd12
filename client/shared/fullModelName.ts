/** The same text for every spelling of a model's name: with its tag, and without the parts that are implied. */
export function fullModelName(name: string): string {
  const short = name
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^registry\.ollama\.ai\//, '')
    .replace(/^library\//, '')
    .replace(/:local$/, '');
  return /:[^/]*$/.test(short) ? short : `${short}:latest`;
}
