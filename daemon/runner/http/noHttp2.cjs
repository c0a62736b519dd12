// Stands for `node:http2` in the bundle: requests go over HTTP/1.1 alone, and loading that module takes 2 MB of memory.
module.exports = { constants: {} };
