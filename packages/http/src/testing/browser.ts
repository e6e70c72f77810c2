import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";

/** What a page did while it was looked at. */
export interface Watched {
  readonly page: Page;
  /** Requests to anywhere but the origin; none of them got there. */
  readonly strayRequests: string[];
  /** Requests to the origin, as paths. */
  readonly requests: string[];
  /** Whatever was written to the console, errors that nobody caught, and what the page's policy forbade. */
  readonly complaints: string[];
}

/** Opens a page that goes nowhere yet. */
export type OpenPage = (origin: string, options?: BrowserContextOptions) => Promise<Watched>;

/** Far above what it takes: a browser beside other jobs on a small machine is slow, and that is no failure. */
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

const NAMES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

/**
 * Defines tests that look at a page. Where there is no Chromium they are reported as skipped, and loudly: a page that
 * nobody looked at must not look as if it had passed.
 */
export function describeInBrowser(name: string, define: (open: OpenPage) => void): void {
  const program = browserProgram();
  if (program === null) warn(name);
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
