import { Transform } from 'node:stream';

/** Passes bytes on in pieces of 1 to 97 bytes, in a fixed order. */
export function inPieces(): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; ) {
        size = (size * 31 + 7) % 97;
        this.push(chunk.subarray(at, at + size + 1));
        at += size + 1;
      }
      done();
    },
  });
}
