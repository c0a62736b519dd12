/** Adds a button to each block of code that copies it. */
const copying = `
if (navigator.clipboard)
  for (const pre of document.querySelectorAll('.text pre')) {
    const box = document.createElement('div');
    const button = document.createElement('button');
    box.className = 'code';
    button.type = 'button';
    button.className = 'copy';
    button.lang = 'en';
    button.textContent = 'Copy';
    button.setAttribute('aria-live', 'polite');
    pre.replaceWith(box);
    box.append(pre, button);
    let later;
    button.addEventListener('click', async () => {
      const text = pre.textContent.replace(/\\n$/, '');
      button.textContent = await navigator.clipboard.writeText(text).then(() => 'Copied', () => 'Not copied');
      clearTimeout(later);
      later = setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
  }
`;

/** The page that the reader is on is in view in the tree beside it. */
const inView = `
const tree = document.querySelector('nav.tree');
const here = tree?.querySelector('[aria-current]');
if (here) tree.scrollTop += here.getBoundingClientRect().top - tree.getBoundingClientRect().top - tree.clientHeight / 3;
`;

/**
 * Shows what is found while the reader types, in the place that `foundIn` makes: it asks for the page of results as the
 * form does, at most once in 250 ms, waits for the end of a composition, and one element announces each answer.
 */
const searching = `
const found = document.getElementById('page:found');
if (found) {
  const input = document.getElementById('page:q');
  const { form } = input;
  const isAside = form.contains(found);
  const { title } = document;
  const status = found.firstElementChild;
  const below = [];
  for (let next = found; (next = next.nextElementSibling); ) below.push(next);
  let timer;
  let asking = new AbortController();
  let last = 0;
  const show = (count, hits) => {
    if (found.contains(document.activeElement)) input.focus();
    found.hidden = false;
    status.replaceChildren(...count);
    while (status.nextSibling) status.nextSibling.remove();
    status.after(...hits);
    for (const element of below) element.hidden = hits.length > 0;
  };
  const search = async () => {
    asking = new AbortController();
    const { signal } = asking;
    try {
      const address = form.action + '?' + new URLSearchParams(new FormData(form));
      if (!isAside) history.replaceState(history.state, '', address);
      if (!isAside) document.title = title;
      if (input.value.trim() === '') return show([], []);
      last = performance.now();
      const answer = await fetch(address, { signal });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const [count, ...hits] = page.getElementById('page:found').children;
      show(count.childNodes, hits);
      if (!isAside) document.title = page.title;
    } catch {
      if (!signal.aborted) status.textContent = 'The search does not answer at the moment. Press Enter to try again.';
    }
  };
  const stop = () => { clearTimeout(timer); asking.abort(); };
  const later = (event) => {
    if (event.isComposing) return;
    stop();
    timer = setTimeout(search, Math.max(150, last + 250 - performance.now()));
  };
  input.addEventListener('input', later);
  input.addEventListener('compositionend', later);
  form.addEventListener('submit', stop);
  document.addEventListener('keydown', (event) => {
    const hits = [input, ...found.querySelectorAll('h2 a')];
    const at = hits.indexOf(document.activeElement);
    if (at === -1 || event.isComposing || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.key === 'Escape' && at === 0) return void (found.hidden = isAside);
    const next = hits[{ ArrowDown: at + 1, ArrowUp: at - 1, Escape: 0 }[event.key]];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  const close = ({ target }) => { found.hidden = isAside && !form.contains(target); };
  for (const type of ['pointerdown', 'focusin']) document.addEventListener(type, close);
}
`;

/**
 * The only script of the service: without it, everything else works. The policy of the reading pages names its hash, so
 * no document can bring another.
 */
export const readingScript = copying + inView + searching;
