import axe from 'axe-core';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Page,
  type ViewportSize,
} from 'playwright-core';
import t from 'tap';
import type { SearchPage, SearchQuery } from '../../docs-service/search/documentIndex.ts';
import { openTestApp } from '../support/docsApp.ts';
import { needs, places } from '../support/parts.ts';
import { everyPage, openSession, ownPages, serveSamples } from '../support/readingLibrary.ts';
import { poll } from '../support/waiting.ts';

const desk = { width: 1280, height: 900 };

interface Look {
  readonly name: string;
  readonly viewport: ViewportSize;
  readonly colorScheme: 'light' | 'dark';
  /** What axe-core looks for. Only what a style may change is looked for again. */
  readonly rules: 'all' | readonly string[];
}

/** Every way in which a page is looked at; each page must be good in all of them. */
const looks: readonly Look[] = [
  { name: 'light', viewport: desk, colorScheme: 'light', rules: 'all' },
  { name: 'dark', viewport: desk, colorScheme: 'dark', rules: ['color-contrast'] },
  {
    name: 'a phone in the dark',
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
    rules: ['color-contrast', 'region', 'scrollable-region-focusable', 'target-size'],
  },
  {
    name: 'a low window',
    viewport: { width: 1280, height: 250 },
    colorScheme: 'light',
    rules: ['scrollable-region-focusable'],
  },
  { name: 'enlarged four times', viewport: { width: 320, height: 640 }, colorScheme: 'light', rules: [] },
];

t.test('the pages in a browser', needs('chromium'), async (t) => {
  const { app, access, index } = await openTestApp(t, ownPages());
  const cookie = await openSession(access.owners);
  serveSamples(app);
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  const browser = await chromium.launch({ executablePath: places.chromium, chromiumSandbox: false });
  t.teardown(() => browser.close());

  t.test('in every look, nothing is cut off, and screen readers can read everything', async (t) => {
    const page = await openPage(t, browser, { base, cookie, options: { viewport: desk } });
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (/Content Security Policy|Refused/.test(message.text())) complaints.push(message.text());
    });
    page.on('dialog', (dialog) => void complaints.push(dialog.message()));
    for (const path of everyPage) {
      await page.goto(base + path);
      await page.evaluate(axe.source);
      for (const { name, viewport, colorScheme, rules } of looks) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        t.equal(overflow, 0, `${path}, ${name}: as wide as the window`);
        if (rules.length === 0) continue;
        const { violations, passes } = await page.evaluate(
          (options) => (globalThis as unknown as Axe).axe.run(options),
          axeOptions(rules),
        );
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
        t.same(found, [], `${path}, ${name}: accessible`);
        const certain = ['color-contrast', 'region', 'target-size'].filter(
          (rule) => rules === 'all' || rules.includes(rule),
        );
        t.ok(
          certain.every((rule) => passes.some(({ id }) => id === rule)),
          `${path}, ${name}: was looked at`,
        );
      }
    }
    t.same(complaints, [], 'nothing was refused, and nothing ran');
  });

  t.test('the pages work without JavaScript and without a mouse', async (t) => {
    const page = await openPage(t, browser, {
      base,
      cookie,
      options: { javaScriptEnabled: false, viewport: desk },
    });
    const press = async (key: string, times = 1) => {
      for (let time = 0; time < times; time++) await page.keyboard.press(key);
    };
    const focused = () => page.locator(':focus');
    await page.goto(`${base}/read`);
    await press('Tab');
    t.equal(await focused().textContent(), 'Skip to the content');
    t.ok((await focused().boundingBox())?.x ?? -1 >= 0, 'it shows when it has the focus');
    await press('Enter');
    await press('Tab');
    t.equal(await focused().getAttribute('name'), 'q', 'and leads past the navigation');
    await page.keyboard.type('memory');
    await Promise.all([page.waitForURL(/q=memory/), press('Enter')]);
    await page.getByRole('link', { name: 'Notes on memory' }).focus();
    await Promise.all([page.waitForURL('**/read/long'), press('Enter')]);
    t.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Notes on memory');
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link', { name: 'Part 7' }).focus();
    const outline = await focused().evaluate((element) => getComputedStyle(element).outlineStyle);
    t.equal(outline, 'solid', 'the focus shows');
    await press('Enter');
    const heading = page.locator('#part-7');
    await poll(
      async () => (await heading.boundingBox())?.y ?? desk.height,
      (y) => y < 200,
    );
    t.match(page.url(), /#part-7$/, 'it scrolls there');
    await page.goto(`${base}/read/guide`);
    const code = page.locator('pre').first();
    await code.focus();
    await press('ArrowRight', 5);
    await poll(
      () => code.evaluate(({ scrollLeft }) => scrollLeft),
      (left) => left > 0,
    );
    t.pass('long code scrolls by keys');
  });

  t.test('a search shows what it finds while one types', async (t) => {
    const search = index.search.bind(index);
    t.teardown(() => Object.assign(index, { search }));
    Object.assign(index, {
      async search(query: SearchQuery): Promise<SearchPage> {
        const isMistaken = /(?<!")memry/.test(query.text);
        const page = await search({ ...query, text: query.text.replace(/(?<!")memry/, 'memory') });
        return isMistaken ? { ...page, corrected: [{ written: 'memry', meant: 'memory' }] } : page;
      },
    });
    const page = await openPage(t, browser, { base, cookie, options: { viewport: desk } });
    await page.addInitScript(() => {
      const ask = fetch;
      const asked: number[] = [];
      Object.assign(globalThis, {
        asked,
        fetch: (...given: Parameters<typeof fetch>) => {
          asked.push(performance.now());
          return ask(...given);
        },
      });
    });
    const askedAt = () => page.evaluate(() => (globalThis as unknown as { asked: readonly number[] }).asked);
    const box = page.getByRole('searchbox');
    const status = page.getByRole('status');
    const says = (text: string | RegExp) => status.filter({ hasText: text }).waitFor();
    const focused = () => page.locator(':focus');

    await page.goto(`${base}/read?tag=models`);
    const region = await status.elementHandle();
    await box.pressSequentially('memry and model', { delay: 180 });
    await says(/for “memry and model”.*Showing results for memory/s);
    t.equal(await region?.evaluate((element) => element.isConnected), true, 'one element announces all');
    const times = await askedAt();
    const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    t.ok(times.length > 3, `it asked ${times.length} times`);
    t.ok(Math.min(...gaps) >= 249, `at most once in 250 ms: ${gaps.map(Math.round)}`);
    t.match(page.url(), /\/read\?q=memry\+and\+model&tag=models$/, 'the address is that of the results');
    t.equal(await page.title(), 'memry and model · Search · runner-docs');
    t.equal(await page.getByText('with this filter').isVisible(), false);
    await page.reload();
    t.equal(await box.inputValue(), 'memry and model');

    await box.fill('memry');
    await says(/for “memry”.*Showing results for memory/s);
    await box.press('ArrowDown');
    t.equal(await focused().textContent(), 'Notes on memory');
    await page.keyboard.press('ArrowUp');
    t.equal(await focused().getAttribute('name'), 'q');
    for (const key of ['ArrowDown', 'Escape', 'ArrowDown']) await page.keyboard.press(key);
    await Promise.all([page.waitForURL('**/read/long'), page.keyboard.press('Enter')]);
    await page.goBack();
    t.match(page.url(), /q=memry&/);
    await Promise.all([page.waitForURL(/q=%22memry%22/), page.getByText('“memry” as written').click()]);
    t.equal(await box.inputValue(), '"memry"');
    t.match(await status.textContent(), '0 documents');

    await page.goto(`${base}/read`);
    await box.fill('memory');
    await says('for “memory”');
    await box.press('Escape');
    await page.getByRole('heading', { name: 'Collections' }).waitFor();
    t.equal(await status.textContent(), '', 'an empty box shows the library again');
    await page.clock.install();
    for (const composed of ['k', 'か']) {
      await box.dispatchEvent('compositionstart');
      await box.evaluate((element: HTMLInputElement, text) => {
        element.value = text;
        element.dispatchEvent(new InputEvent('input', { isComposing: true }));
      }, composed);
    }
    const before = (await askedAt()).length;
    await page.clock.runFor(1_000);
    t.equal((await askedAt()).length, before, 'nothing is asked within a composition');
    await box.dispatchEvent('compositionend');
    await page.clock.runFor(300);
    await says('for “か”');

    await page.context().setOffline(true);
    await box.fill('model');
    await says('The search does not answer at the moment.');
    await page.context().setOffline(false);
    await Promise.all([page.waitForURL(/q=model$/), box.press('Enter')]);
    t.equal(await page.getByRole('status').getByText('for “model”').count(), 1, 'the box works as a form');

    await page.goto(`${base}/read/guide`);
    await box.fill('memory');
    await says('for “memory”');
    t.match(page.url(), /\/read\/guide$/, 'beside a text, the address stays');
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(
      (options) => (globalThis as unknown as Axe).axe.run(options),
      axeOptions('all'),
    );
    t.same(
      violations.map(({ id }) => id),
      [],
    );
    await page.mouse.click(desk.width - 10, desk.height - 10);
    t.equal(await status.isVisible(), false, 'a click beside it closes it');
    await box.focus();
    await box.press('ArrowDown');
    await Promise.all([page.waitForURL('**/read/long'), page.keyboard.press('Enter')]);
  });

  t.test('the consent page works with the keyboard alone', async (t) => {
    const page = await openPage(t, browser, {
      base,
      cookie,
      options: { javaScriptEnabled: false, viewport: desk },
    });
    let sent: string | null = '';
    await page.route('**/authorize/decision', async (route) => {
      sent = route.request().postData();
      await route.fulfill({ contentType: 'text/plain', body: 'decided' });
    });
    await page.goto(`${base}/samples/consent`);
    const box = (name: string) => page.getByRole('checkbox', { name });
    t.equal(await box('Read drafts').isChecked(), true);
    await box('See your email address').focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Allow' }).focus();
    await Promise.all([page.waitForURL('**/authorize/decision'), page.keyboard.press('Enter')]);
    t.equal(sent, 'request=request-1&csrf=csrf-1&scope=read&scope=draft&scope=profile&decision=allow');
  });

  t.test('a button copies code, and a table uses a wide window', async (t) => {
    const page = await openPage(t, browser, {
      base,
      cookie,
      options: { viewport: { width: 1_680, height: 900 } },
    });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${base}/read/documents`);
    const code = page.locator('.code').first();
    const copy = code.getByRole('button', { name: 'Copy' });
    await copy.focus();
    await page.keyboard.press('Enter');
    await code.getByRole('button', { name: 'Copied' }).waitFor();
    t.equal(
      await page.evaluate(() => navigator.clipboard.readText()),
      (await code.locator('pre').textContent())?.trimEnd(),
    );
    const widthOf = async (selector: string) =>
      (await page.locator(selector).first().boundingBox())?.width ?? 0;
    t.ok((await widthOf('.text > .table')) > 1.2 * (await widthOf('.text > p')));
    const without = await openPage(t, browser, { base, cookie, options: { javaScriptEnabled: false } });
    await without.goto(`${base}/read/documents`);
    t.equal(await without.getByRole('button', { name: 'Copy' }).count(), 0);
  });

  t.test('the pages print well', async (t) => {
    const page = await openPage(t, browser, { base, cookie, options: { viewport: desk } });
    await page.goto(`${base}/read/guide?in=handbook`);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const hidden of ['.top', '.contents', '.around', '.formats', '.path'])
      t.equal(await page.locator(hidden).isVisible(), false, `${hidden} is not printed`);
    const look = await page.evaluate(() => {
      const { color, backgroundColor } = getComputedStyle(document.body);
      const link = document.querySelector('article a[href^="https:"]') ?? document.body;
      const after = getComputedStyle(link, '::after').content;
      link.classList.add('bare');
      return { color, backgroundColor, link: after, bare: getComputedStyle(link, '::after').content };
    });
    t.equal(look.color, 'rgb(0, 0, 0)', 'black on white, also at night');
    t.equal(look.backgroundColor, 'rgb(255, 255, 255)');
    t.match(look.link, /attr\(href\)|example\.org/, 'a link says where it leads');
    t.equal(look.bare, 'none', 'unless its text does');
    const pdf = await page.pdf({ format: 'A4' });
    t.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    const shown = await page
      .locator('pre')
      .first()
      .evaluate((pre) => pre.scrollWidth - pre.clientWidth);
    t.equal(shown, 0, 'long lines of code are broken');
  });
});

/** Only what is wrong is reported in full; a rule that passes is only named. */
function axeOptions(rules: Look['rules']) {
  return {
    resultTypes: ['violations'],
    ...(rules === 'all' ? { rules: { 'target-size': { enabled: true } } } : { runOnly: [...rules] }),
  };
}

/** As much of axe-core as runs in the page. */
interface Axe {
  readonly axe: {
    run(options: object): Promise<{
      readonly violations: readonly {
        readonly id: string;
        readonly nodes: readonly { readonly html: string }[];
      }[];
      readonly passes: readonly { readonly id: string }[];
    }>;
  };
}

interface Visit {
  readonly base: string;
  readonly cookie: { readonly name: string; readonly value: string };
  readonly options: BrowserContextOptions;
}

/** A browser of the owner. */
async function openPage(
  t: { teardown(work: () => unknown): void },
  browser: Browser,
  { base, cookie, options }: Visit,
): Promise<Page> {
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  await context.addCookies([{ ...cookie, url: base }]);
  return context.newPage();
}
