// The hand of the tests in the extension host. It begins before the extension does, notes in which order that calls
// the editor, and runs the functions that a test sends over a socket.
const Module = require('node:module');
const net = require('node:net');
const vscode = require('vscode');

/** What the extension asked of the editor, in its order: the call, and what names it. */
const seen = {
  calls: [],
  log: [],
  notifications: [],
  secrets: 0,
  trees: new Map(),
  panels: new Map(),
  disposed: [],
  revealed: [],
  contexts: [],
  participant: undefined,
  provider: undefined,
  completer: undefined,
  context: undefined,
  documents: undefined,
  failing: new Set(),
  script: undefined,
  statusItem: undefined,
};

exports.activate = ({ subscriptions }) => {
  let spied;
  const load = Module._load;
  Module._load = function (request, parent, ...rest) {
    const isMain = /model-runner\.runner-[^/]*\/dist\/extension(\.cjs)?$/.test(request);
    if (isMain) return spyOnMain(load.call(this, request, parent, ...rest));
    const isExtension = /model-runner\.runner-[^/]*\/dist\//.test(parent?.filename ?? '');
    if (request !== 'vscode' || !isExtension) return load.call(this, request, parent, ...rest);
    // The editor's API knows which extension asks, so it must be the one that was made for that extension.
    spied ??= spyOn(load.call(this, request, parent, ...rest));
    return spied;
  };
  const tool = {
    invoke: ({ input }) => {
      if (input.town === 'Nowhere') throw new Error('There is no such town.');
      const text = new vscode.LanguageModelTextPart(`In ${input.town} it rains.`);
      return new vscode.LanguageModelToolResult([text]);
    },
  };
  subscriptions.push(vscode.lm.registerTool('driver_weather', tool));
  const secret = {
    invoke: () => {
      seen.secrets += 1;
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart('42')]);
    },
  };
  subscriptions.push(vscode.lm.registerTool('driver_secret', secret));
  serve(process.env.RUNNER_DRIVER_SOCKET);
};

/** One function a line; its result, or its error, is the answer. */
function serve(path) {
  const socket = net.connect(path);
  let buffer = '';
  socket.setEncoding('utf8').on('data', async (text) => {
    buffer += text;
    const lines = buffer.split('\n');
    buffer = lines.pop();
    for (const line of lines) {
      const { id, source, argument } = JSON.parse(line);
      answer(source, argument).then(
        (value) => socket.write(`${JSON.stringify({ id, value })}\n`),
        (error) =>
          socket.write(
            `${JSON.stringify({ id, error: String(error?.stack ?? error?.message ?? JSON.stringify(error)) })}\n`,
          ),
      );
    }
  });
  socket.on('error', () => undefined);
}

async function answer(source, argument) {
  const run = new Function('return (' + source + ')')();
  return run({ vscode, seen, require, argument });
}

/** The same API; a call of these is noted before it is made. */
const watched = {
  window: {
    createOutputChannel: ([name]) => name,
    createTreeView: ([id]) => id,
    createStatusBarItem: ([id]) => id,
    createWebviewPanel: ([type]) => type,
    showErrorMessage: ([message]) => message,
    showWarningMessage: ([message]) => message,
    showInformationMessage: ([message]) => message,
    showQuickPick: ([, options]) => options?.title ?? '',
    showInputBox: ([options]) => options?.title ?? '',
    showOpenDialog: ([options]) => options?.title ?? '',
    createInputBox: () => '',
    setStatusBarMessage: ([message]) => message,
  },
  env: { openExternal: ([uri]) => uri.toString(true) },
  workspace: { getConfiguration: ([section]) => section ?? '' },
  lm: {
    registerLanguageModelChatProvider: ([vendor]) => vendor,
    registerMcpServerDefinitionProvider: ([id]) => id,
  },
  chat: { createChatParticipant: ([id]) => id },
  languages: { registerInlineCompletionItemProvider: ([selector]) => JSON.stringify(selector) },
  commands: { registerCommand: ([id]) => id, executeCommand: ([id]) => id },
};

/** What is kept of a call beside its name. */
const kept = {
  createStatusBarItem: (_, result) => {
    seen.statusItem = result;
  },
  registerMcpServerDefinitionProvider: ([, provider]) => {
    seen.documents = provider;
  },
  registerLanguageModelChatProvider: ([, provider]) => {
    seen.provider = provider;
  },
  registerInlineCompletionItemProvider: ([, completer]) => {
    seen.completer = completer;
  },
  createChatParticipant: ([, answer], participant) => {
    seen.participant = { answer, participant };
  },
  createWebviewPanel: ([type], panel) => seen.panels.set(type, panel),
  executeCommand: ([id, key, value]) => {
    if (id === 'setContext') seen.contexts.push([key, value]);
  },
};

/**
 * While a test has a script, nothing of this is shown: the questions of the extension are noted in `asked` and get the
 * script's answers, and what it asks the editor to do is noted in `done`. A message takes an answer that is one of its
 * buttons.
 */
const scripted = {
  'window.showQuickPick': async (script, [items, { title, canPickMany } = {}]) => {
    const shown = await items;
    const labelOf = (item) => (typeof item === 'string' ? item : item.label);
    const rows = shown.map((item) => [labelOf(item), item.description].filter(Boolean).join(' '));
    script.asked.push({ title, rows });
    const answer = script.answers.shift();
    if (!canPickMany) return shown.find((item) => labelOf(item) === answer);
    const ticked = answer?.split(', ');
    return ticked && shown.filter((item) => ticked.includes(labelOf(item)));
  },
  'window.showInputBox': async (script, [{ title, value, password, validateInput }]) => {
    const answer = script.answers.shift();
    const problem = await validateInput?.(answer ?? '');
    script.asked.push({ title, value, password, problem: problem?.message ?? problem });
    const { Error: wrong } = vscode.InputBoxValidationSeverity;
    return typeof problem === 'string' || problem?.severity === wrong ? undefined : answer;
  },
  'window.showOpenDialog': async (script, [{ title, filters, defaultUri }]) => {
    script.asked.push({ title, detail: JSON.stringify(filters), value: defaultUri?.path });
    const path = script.answers.shift();
    return path === undefined ? undefined : [vscode.Uri.file(path)];
  },
  'window.createInputBox': (script) => createScriptedBox(script),
  'window.setStatusBarMessage': (script, [message]) => void script.done.push(message),
  'env.openExternal': async (script, [uri]) => script.done.push(uri.toString(true)),
  'commands.executeCommand': (script, [id, ...given], real) => {
    if (/^(runner\.|setContext$)/.test(id)) return real();
    script.done.push([id, ...given]);
    return Promise.resolve();
  },
};
for (const kind of ['Error', 'Warning', 'Information'])
  scripted[`window.show${kind}Message`] = async (script, [title, ...rest]) => {
    const buttons = rest.filter((one) => typeof one === 'string');
    const { detail } = rest.find((one) => typeof one === 'object') ?? {};
    script.asked.push({ title, detail, rows: buttons });
    return buttons.includes(script.answers[0]) ? script.answers.shift() : undefined;
  };

/** Each answer is typed and accepted, until the box hides; without another answer, the user leaves. */
function createScriptedBox(script) {
  const listeners = { type: [], enter: [], hide: [] };
  const fire = (event) => {
    for (const listener of listeners[event]) listener();
  };
  const problems = [];
  let isAccepted = false;
  const goOn = () => {
    const answer = script.answers.shift();
    if (answer === undefined) return box.hide();
    box.value = answer;
    isAccepted = false;
    fire('type');
    isAccepted = true;
    fire('enter');
  };
  const box = {
    onDidChangeValue: (listener) => listeners.type.push(listener),
    onDidAccept: (listener) => listeners.enter.push(listener),
    onDidHide: (listener) => listeners.hide.push(listener),
    show() {
      const { title, value, placeholder } = box;
      script.asked.push({ title, value, placeholder, problems });
      goOn();
    },
    hide: () => fire('hide'),
    dispose: () => undefined,
    set validationMessage(said) {
      if (!isAccepted || !said || said.severity < 2) return;
      isAccepted = false;
      problems.push(said.message);
      setImmediate(goOn);
    },
  };
  return box;
}

function spyOn(real) {
  const namespaces = Object.entries(watched).map(([name, functions]) => [
    name,
    spyOnNamespace(real, name, functions),
  ]);
  const own = Object.fromEntries(namespaces.map(([name, value]) => [name, { value, enumerable: true }]));
  const rest = Object.keys(real)
    .filter((key) => !(key in own))
    .map((key) => [key, { get: () => real[key], enumerable: true }]);
  return Object.defineProperties({}, { ...own, ...Object.fromEntries(rest) });
}

function spyOnNamespace(real, name, functions) {
  const noted = Object.entries(functions).map(([call, nameOf]) => [
    call,
    {
      enumerable: true,
      value: (...given) => {
        const detail = nameOf(given);
        seen.calls.push({ call: `${name}.${call}`, detail, at: performance.now() });
        if (/^show\w+Message$/.test(call)) seen.notifications.push(detail);
        if (seen.failing.delete(`${name}.${call}`)) throw new TypeError('Nobody expected this.');
        const make = () => real[name][call](...given);
        const answer = seen.script && scripted[`${name}.${call}`];
        const result = answer ? answer(seen.script, given, make) : make();
        kept[call]?.(given, result);
        if (call === 'createTreeView') return spyOnTree(result, given);
        return call === 'createOutputChannel' ? spyOnLog(result) : result;
      },
    },
  ]);
  return Object.create(real[name], Object.fromEntries(noted));
}

/** All that is logged, whatever the level that the channel shows. */
function spyOnLog(channel) {
  const levels = ['trace', 'debug', 'info', 'warn', 'error'].map((level) => [
    level,
    {
      value: (message, ...rest) => {
        seen.log.push({ level, message: String(message) });
        seen.calls.push({ call: `log.${level}`, detail: String(message), at: performance.now() });
        channel[level](message, ...rest);
      },
    },
  ]);
  return Object.create(channel, Object.fromEntries(levels));
}

/** The extension itself, whose context a test may ask for. */
function spyOnMain(main) {
  const activate = (context) => {
    seen.context = context;
    return main.activate(context);
  };
  return { ...main, activate };
}

/** What draws the view, and whether the view is disposed of. */
function spyOnTree(view, [id, { treeDataProvider: tree }]) {
  seen.trees.set(id, { view, tree });
  const dispose = () => {
    seen.disposed.push(id);
    view.dispose();
  };
  const reveal = (node, options) => {
    seen.revealed.push({ id, node });
    return view.reveal(node, options);
  };
  return Object.create(view, { dispose: { value: dispose }, reveal: { value: reveal } });
}
