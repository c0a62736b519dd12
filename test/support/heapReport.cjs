// Loaded into a daemon by `NODE_OPTIONS`: at SIGUSR2 it collects what nobody holds and says how much is left.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

process.on('SIGUSR2', () => {
  collect();
  process.stderr.write(`heap ${process.memoryUsage().heapUsed}\n`);
});
