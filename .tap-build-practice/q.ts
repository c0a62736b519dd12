import { createDocuments } from '../daemon/practice/documents.ts';
import { createPracticeSpeaker } from '../daemon/practice/practiceSpeaker.ts';
const speak = createPracticeSpeaker(createDocuments('docs'));
for (const q of ['What can you do?', 'How do I pull a model in the terminal?', 'How do I install a runner?', 'What is a Modelfile?', 'Is it private?', 'how does thinking look', 'Write a hello world in Python', 'why is the context window small', 'which settings are there?', 'Hi!']) {
  let out = ''; for await (const p of speak({ model: 'practice', messages: [{ role: 'user', content: q, toolName: '', images: 0 }], tools: [], think: false, signal: new AbortController().signal })) if (p.kind === 'text') out += p.text;
  console.log('=== ' + q + '\n' + out.slice(42, 420));
}
