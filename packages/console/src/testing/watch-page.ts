import type { Page } from "playwright-core";

/**
 * Records which element has the focus at the moment when a dialog leaves the page, before anything else runs. A look from outside comes
 * later, and would also find a focus that was returned late.
 *
 * @param root - An expression for the document or shadow root that contains the dialogs.
 * @returns A function that reads and resets the name of the element that had the focus when the last dialog left.
 */
export async function watchFocus(page: Page, root = "document"): Promise<() => Promise<unknown>> {
  await page.evaluate(`((root) => {
    const note = () => {
      const one = root.activeElement;
      window.focused = one === null || one === document.body ? "nothing" : (one.ariaLabel ?? one.textContent);
    };
    new MutationObserver((records) => {
      if (records.some(({ removedNodes }) => [...removedNodes].some(({ localName }) => localName === "dialog"))) note();
    }).observe(root, { childList: true, subtree: true });
  })(${root})`);
  return () =>
    page.evaluate(`(() => {
      const { focused } = window;
      delete window.focused;
      return focused;
    })()`);
}

/** Resolves once the page is painted. */
const PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

/**
 * Delays each answer of an API until the page is painted without it, and adds up the layout shifts that follow. Call it before the page
 * is opened.
 *
 * @param answers - URLs of the API, as Playwright matches them.
 * @returns A function that waits for all answers, and returns the share of the view that has shifted since the last call, and which texts.
 * @see https://web.dev/articles/cls. This is the sum of all shifts, including those that follow input.
 */
export async function watchShifts(
  page: Page,
  answers: string | RegExp,
): Promise<() => Promise<{ readonly share: number; readonly what: readonly string[] }>> {
  await page.addInitScript(`window.shifts = [];
    window.shiftObserver = new PerformanceObserver((list) => shifts.push(...list.getEntries()));
    shiftObserver.observe({ type: "layout-shift", buffered: true });`);
  let pending = 0;
  page.on("request", () => {
    pending += 1;
  });
  for (const end of ["requestfinished", "requestfailed"] as const)
    page.on(end as "requestfinished", () => {
      pending -= 1;
    });
  await page.route(answers, async (route) => {
    // The page may be closed.
    await page.evaluate(PAINTED).catch(() => undefined);
    await route.fallback();
  });
  return async () => {
    for (let quiet = 0; quiet < 3; quiet += 1) {
      await page.evaluate(PAINTED);
      if (pending > 0) quiet = 0;
    }
    return page.evaluate(`(() => {
      const all = [...shifts.splice(0), ...shiftObserver.takeRecords()];
      return {
        share: all.reduce((sum, { value }) => sum + value, 0),
        what: all.flatMap(({ sources }) => sources).map(({ node }) => node?.textContent ?? node?.nodeName),
      };
    })()`);
  };
}
