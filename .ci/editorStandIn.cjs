// Takes the place of VS Code where only the files are counted that a prompt to `@runner` passes: a real one takes half
// a minute to start. It starts the built extension, waits for the models, and asks the participant. Of the API, it has
// what such a prompt needs; everything else takes whatever is asked of it, and does nothing. What the extension really
// does is tested in a real VS Code.
// Usage: node .ci/editorStandIn.cjs ADDRESS-OF-RUNNER [PROMPT …]
const Module = require('node:module');
const { join, resolve } = require('node:path');
const v8 = require('node:v8');

const [address, ...prompts] = process.argv.slice(2);

/** Each member of it, and what a call of it returns, is the same again. */
function anything() {
  const members = new Map([
    [Symbol.iterator, [][Symbol.iterator]],
    [Symbol.toPrimitive, () => ''],
    ['then', undefined],
    ['toJSON', undefined],
  ]);
  return new Proxy(class {}, {
    apply: anything,
    set: (_, key, value) => members.set(key, value),
    get(target, key) {
      if (key === 'prototype') return target.prototype;
      if (!members.has(key)) members.set(key, anything());
      return members.get(key);
    },
  });
}

function anythingWith(own) {
  return Object.assign(anything(), own);
}

class Disposable {
  constructor(dispose = () => undefined) {
    this.dispose = dispose;
  }

  static from(...all) {
    return new Disposable(() => {
      for (const one of all) one.dispose();
    });
  }
}

class EventEmitter {
  #listeners = new Set();

  event = (listener, self) => {
    const bound = listener.bind(self);
    this.#listeners.add(bound);
    return new Disposable(() => this.#listeners.delete(bound));
  };

  fire(value) {
    for (const listener of this.#listeners) listener(value);
  }

  dispose() {
    this.#listeners.clear();
  }
}

class MarkdownString {
  constructor(value = '') {
    this.value = value;
  }
}

function uri(path) {
  return { scheme: 'file', path, fsPath: path, toString: () => `file://${path}` };
}

const settings = {
  host: address,
  get: (key, usual) => (key === 'host' ? address : usual),
  inspect: (key) => ({ globalValue: key === 'host' ? address : undefined }),
};
const extension = { id: 'model-runner.runner', packageJSON: require(resolve('package.json')) };
const memory = { get: (_, usual) => usual, update: async () => undefined };
const registered = {};

const vscode = anythingWith({
  version: '1.139.1',
  Disposable,
  EventEmitter,
  MarkdownString,
  Uri: anythingWith({ file: uri, joinPath: (base, ...parts) => uri(join(base.fsPath, ...parts)) }),
  workspace: anythingWith({
    isTrusted: true,
    workspaceFolders: undefined,
    textDocuments: [],
    notebookDocuments: [],
    getConfiguration: () => settings,
  }),
  window: anythingWith({ activeTextEditor: undefined, visibleTextEditors: [] }),
  extensions: anythingWith({ getExtension: () => extension }),
  commands: anythingWith({ executeCommand: async () => undefined }),
  lm: anythingWith({
    tools: [],
    selectChatModels: async () => [],
    registerLanguageModelChatProvider(_, provider) {
      registered.provider = provider;
      return new Disposable();
    },
  }),
  chat: anythingWith({
    createChatParticipant(_, answer) {
      registered.answer = answer;
      return anything();
    },
  }),
});

const load = Module._load;
Module._load = function (request, ...rest) {
  return request === 'vscode' ? vscode : load.call(this, request, ...rest);
};

void main();

async function main() {
  const subscriptions = [];
  require(resolve('dist/extension.cjs')).activate({
    subscriptions,
    extensionUri: uri(resolve('.')),
    globalStorageUri: uri(join(process.env.HOME, 'storage')),
    globalState: memory,
    workspaceState: memory,
    secrets: anythingWith({ get: async () => undefined }),
    extension,
  });
  await new Promise((done) => registered.provider.onDidChangeLanguageModelChatInformation(done));
  for (const prompt of prompts) await ask(prompt);
  v8.takeCoverage();
  v8.stopCoverage();
  for (const subscription of subscriptions) subscription.dispose();
}

async function ask(prompt) {
  let shown = '';
  const stream = anythingWith({
    markdown(text) {
      shown += text.value ?? text;
    },
  });
  const request = { prompt, references: [], toolReferences: [], model: { vendor: 'another', id: '' } };
  const token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
  const { metadata } = await registered.answer(request, { history: [] }, stream, token);
  if (metadata?.usage === undefined) throw new Error(`@runner did not answer. It shows: ${shown}`);
}
