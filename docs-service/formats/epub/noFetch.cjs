// Stands for `node-fetch` in the bundle: no book ever fetches anything, whatever the library that packs it could do.
module.exports = () => {
  throw new Error('A book fetches nothing.');
};
