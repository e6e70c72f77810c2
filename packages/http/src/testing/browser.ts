import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";

/** What a page did while it was open. */
export interface Watched {
  readonly page: Page;
  /** Requests to other origins; all of them are blocked. */
  readonly strayRequests: string[];
  /** Requests to the origin, as paths. */
  readonly requests: string[];
  /** Console messages, uncaught errors, and violations of the page's policy. */
  readonly complaints: string[];
}

/** Opens an empty page. */
export type OpenPage = (origin: string, options?: BrowserContextOptions) => Promise<Watched>;

/** Far more than needed: a browser is slow on a small busy machine, and that is not a failure. */
const PATIENCE_MS = 120_000;

/**
 * Chromium draws its address bar, which is never visible here, with two extra pages for each open page: half of the cost of a page. This
 * list of disabled features replaces Playwright's own, which is repeated in it.
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

const NAMES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

/**
 * Defines tests that look at a page. Without Chromium they are reported as skipped, loudly: a page that was not tested must not look as if
 * it had passed.
 */
export function describeInBrowser(name: string, define: (open: OpenPage) => void): void {
  const program = browserProgram();
  if (program === null) warn(name);
  describe.skipIf(program === null)(name, { timeout: 2 * PATIENCE_MS }, () => {
    let browser: Browser;
    beforeAll(async () => {
      // Root in a container cannot use the sandbox, and the only page is latchkey's own.
      const args = [
        "--no-sandbox",
        "--disable-background-networking",
        // Otherwise the empty page takes a process of its own, which ends when the first address is opened: a tenth of a short test.
        "--renderer-process-limit=1",
        `--disable-features=${OFF.join(",")}`,
      ];
      browser = await chromium.launch({ executablePath: program ?? "", args });
    }, PATIENCE_MS);
    afterAll(() => browser?.close());
    define((origin, options) => watch(browser, origin, options));
  });
}

/** Path from the variable CHROMIUM, or the first of its usual names on the PATH; null if there is none. */
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
    if (url.startsWith("data:")) return route.continue();
    strayRequests.push(url);
    return route.abort();
  });
  return { page, strayRequests, requests, complaints };
}

function warn(name: string): void {
  const line = "=".repeat(78);
  console.warn(
    `\n${line}\nSKIPPED: ${name}\nNo Chromium: put it on the PATH, or its path into CHROMIUM.\n${line}\n`,
  );
}
