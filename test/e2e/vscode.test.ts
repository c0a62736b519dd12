// All tests in a real VS Code, in one process, so that they share its server and its browser: `.ci/check.mjs` runs
// this file in place of those that it imports, each of which also runs alone.
import './vscodeStart.test.ts';
import './vscodeModels.test.ts';
import './vscodeCommands.test.ts';
import './vscodeChat.test.ts';
import './vscodeQuestion.test.ts';
import './vscodeDocuments.test.ts';
import './vscodeEngine.test.ts';
