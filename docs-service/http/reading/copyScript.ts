/**
 * Adds a button to each block of code that copies it. It is the only script of the service: without it, the button is
 * absent and everything else works. It runs only on pages with documents, whose policy names its hash, so no document
 * can bring another.
 */
export const copyScript = `
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
