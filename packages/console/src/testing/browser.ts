import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";

/** What a page did while it was looked at. */
export interface Watched {
  readonly page: Page;
  /** Requests to anywhere but the origin; none of them got there. */
  readonly strayRequests: string[];
  /** Addresses of requests to the origin. */
  readonly requests: string[];
  /** Whatever was written to the console, errors that nobody caught, and what the policy forbade. */
  readonly complaints: string[];
}

export type OpenPage = (origin: string, options?: BrowserContextOptions) => Promise<Watched>;

/** Far above what it takes: a browser beside other jobs on a small machine is slow. */
const PATIENCE_MS = 120_000;

/**
 * Chromium draws its address bar, which nobody sees, with two pages of its own beside each page that is opened: half of what a page
 * costs. A list of what is off replaces that of Playwright, whose names follow.
 */
const OFF = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Defines tests that look at a page. Where there is no Chromium they are reported as skipped, and loudly. */
export function describeInBrowser(name: string, define: (open: OpenPage) => void): void {
  const program = browserProgram();
  if (program === null)
    console.warn(
      `\nSKIPPED: ${name}\nNo Chromium: put it on the PATH, or its path into CHROMIUM.\n`,
    );
  describe.skipIf(program === null)(name, { timeout: 2 * PATIENCE_MS }, () => {
    let browser: Browser;
    beforeAll(async () => {
      // The sandbox cannot be had by root in a container, and the only page is our own.
      const args = [
        "--no-sandbox",
        "--disable-background-networking",
        `--disable-features=${OFF.join(",")}`,
      ];
      browser = await chromium.launch({ executablePath: program ?? "", args });
    }, PATIENCE_MS);
    afterAll(() => browser?.close());
    define((origin, options) => watch(browser, origin, options));
  });
}

/** CHROMIUM, or the first of its usual names that is on the PATH; null if there is none. */
function browserProgram(): string | null {
  const { CHROMIUM, PATH = "" } = process.env;
  if (CHROMIUM) return CHROMIUM;
  const candidates = NAMES.flatMap((name) => PATH.split(delimiter).map((path) => join(path, name)));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Notes what has the focus at the moment when a dialog leaves the page, before anything else runs. A look from outside comes later,
 * and would also find a focus that was given back late.
 *
 * @param root - An expression for the document or shadow root that holds the dialogs.
 * @returns Reads the name of what had the focus when the last dialog left, and forgets it.
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

/** Resolves when the page was painted. */
const PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

/**
 * Lets each answer of an API wait until the page was painted without it, and adds up what jumps then. Is called before the page is
 * opened.
 *
 * @param answers - Addresses of the API, as Playwright matches them.
 * @returns Waits until all has come. Answers the share of what is seen that jumped since the last call, and what it was.
 * @see https://web.dev/articles/cls, of which this is the sum, with what follows input included.
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
    // The page may be gone.
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

async function watch(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const strayRequests: string[] = [];
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.exposeFunction("noteViolation", (what: string) => complaints.push(what));
  await page.addInitScript(`document.addEventListener("securitypolicyviolation", (event) =>
    noteViolation(event.violatedDirective + " " + event.blockedURI));`);
  await page.route("**/*", async (route) => {
    const url = route.request().url();
    if (url.startsWith(`${origin}/`)) {
      requests.push(url.slice(origin.length));
      return route.continue();
    }
    strayRequests.push(url);
    return route.abort();
  });
  return { page, strayRequests, requests, complaints };
}
