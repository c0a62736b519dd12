// A program that stands in for the engine, for llama-server and for Ollama, as far as what starts them sees:
// `node engineStandIn.cjs` is the engine, with a name as the first argument it is that program.
const { createServer } = require('node:http');
const { createInterface } = require('node:readline');

const [name, ...args] = process.argv.slice(2);
const argument = (flag) => args[args.indexOf(flag) + 1];

const versions = { ollama: 'ollama version is 1.2.3', 'llama-server': 'version: 4567 (abc)' };
if (args[0] === '--version') process.stdout.write(`${versions[name] ?? 'a coffee machine, version 1'}\n`);
else if (name === undefined) createInterface({ input: process.stdin }).once('line', runEngine);
else
  serve(name === 'ollama' ? process.env.OLLAMA_HOST.split(':')[1] : argument('--port'), argument('--alias'));

function runEngine(line) {
  const { model, alias, context = 4096, library } = JSON.parse(line);
  const send = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
  process.stdin.on('end', () => process.exit(0));
  if (/damaged/.test(model)) {
    send({ event: 'failed', message: 'The file is damaged.' });
    process.exit(1);
  }
  if (/crash/.test(model)) process.exit(7);
  const server = serve(0, alias, () => {
    const { port } = server.address();
    send({ event: 'listening', port });
    send({ event: 'loading', percent: 50 });
    if (!/endless/.test(model)) send({ event: 'ready', port, context, trainedContext: 8192, library });
  });
}

/** As llama.cpp: it names itself in each answer. */
function serve(port, alias, onListening) {
  const server = createServer(({ url, headers }, response) => {
    response.setHeader('server', 'llama.cpp');
    if (url === '/pid') return response.end(String(process.pid));
    if (url === '/key') return response.end(headers.authorization ?? 'none');
    if (url === '/props') return response.end('{"default_generation_settings":{"n_ctx":4096}}');
    if (url === '/v1/models') return response.end(JSON.stringify({ data: [{ id: alias, object: 'model' }] }));
    response.statusCode = url === '/health' || url === '/' ? 200 : 404;
    response.end('{}');
  });
  return server.listen(Number(port), '127.0.0.1', onListening);
}
