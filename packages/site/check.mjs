// Builds the site and checks it as readers see it: every link and every anchor has a target, and pages display correctly in a browser.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { chromium } from "playwright-core";
import { build } from "vitepress";

const root = fileURLToPath(new URL(".", import.meta.url));
const site = join(root, "dist");
/** @type {string[]} */
const problems = [];

// Fails if a link leads to no page.
await build(root);

const names = readdirSync(site, { recursive: true, encoding: "utf8" });
const pages = new Map(
  names
    .filter((name) => name.endsWith(".html"))
    .map((name) => {
      const html = readFileSync(join(site, name), "utf8");
      return [`/${name.replace(/(?:(?<=^|\/)index)?\.html$/, "")}`, html];
    }),
);
let anchors = 0;
/** The file that a static server sends for an address. */
const fileOf = (/** @type {string} */ path) =>
  [path, `${path}index.html`]
    .map((name) => join(site, name))
    .find((name) => statSync(name, { throwIfNoEntry: false })?.isFile());

for (const [address, html] of pages) {
  for (const [, target = ""] of html.matchAll(/<a[^>]* href="([^"#][^"]*)"/g)) {
    const { pathname, host } = new URL(target, `http://site${address}`);
    if (host === "site" && fileOf(pathname) === undefined)
      problems.push(`${address}: no file for ${target}`);
  }
  for (const [, target = ""] of html.matchAll(/<a[^>]* href="([^"]*#[^"]+)"/g)) {
    const { pathname, hash, host } = new URL(target, `http://site${address}`);
    if (host !== "site") continue;
    anchors += 1;
    const page = pages.get(pathname.replace(/\.html$/, ""));
    const id = decodeURIComponent(hash.slice(1));
    if (!page?.includes(`id="${id}"`)) problems.push(`${address}: no such place: ${target}`);
  }
}
for (const [address, html] of pages) {
  const markdown = join(site, `${address === "/" ? "index" : address.replace(/\/$/, "/index")}.md`);
  if (address !== "/404" && !existsSync(markdown)) problems.push(`${address}: no Markdown`);
  for (const [, source = ""] of html.matchAll(/<(?:img|source)[^>]* src(?:set)?="(\/[^"]+)"/g))
    if (!existsSync(join(site, source))) problems.push(`${address}: no such picture: ${source}`);
}

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

const server = createServer((request, response) => {
  const found = fileOf(new URL(request.url ?? "/", "http://site").pathname);
  if (found === undefined) {
    response.writeHead(404).end();
    return;
  }
  const type = TYPES[/** @type {keyof typeof TYPES} */ (extname(found))] ?? "text/plain";
  response.writeHead(200, { "Content-Type": `${type}; charset=utf-8` });
  response.end(readFileSync(found));
});
await new Promise((listening) => server.listen(0, "127.0.0.1", () => listening(undefined)));
const address = server.address();
if (typeof address !== "object" || address === null) throw new Error("not listening on a port");
const origin = `http://127.0.0.1:${address.port}`;

const { CHROMIUM, PATH = "" } = process.env;
const executablePath =
  CHROMIUM ??
  [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
  ]
    .flatMap((name) => PATH.split(delimiter).map((path) => join(path, name)))
    .find((path) => existsSync(path));
if (executablePath === undefined) throw new Error("no Chromium: put it on the PATH");

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-background-networking"],
});
/** Pages of every kind. */
const seen = [
  "/",
  "/start/express.html",
  "/verdicts.html",
  "/http/identities.html",
  "/comparison.html",
];
try {
  // One width for each theme: no rule of a theme depends on the width.
  for (const [width, colorScheme] of /** @type {const} */ ([
    [390, "dark"],
    [1_440, "light"],
  ])) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
    const page = await context.newPage();
    let shown = "";
    const note = (/** @type {string} */ text) =>
      problems.push(`${shown} at ${width}, ${colorScheme}: ${text}`);
    page.on("console", (message) => note(message.text()));
    page.on("pageerror", (error) => note(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(origin) && !request.url().startsWith("data:"))
        note(`asks for ${request.url()}`);
    });
    for (shown of seen) {
      await page.goto(`${origin}${shown}`, { waitUntil: "networkidle" });
      const overflow = await page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth",
      );
      if (/** @type {number} */ (overflow) > 0) note(`is ${overflow} pixels too wide`);
      await page.evaluate(axe.source);
      // The frame around a page belongs to the theme, so only the content is checked.
      const { violations } = /** @type {import("axe-core").AxeResults} */ (
        await page.evaluate(
          `axe.run(document.querySelector("main, .VPContent"), { resultTypes: ["violations"] })`,
        )
      );
      for (const { id, nodes } of violations)
        note(`${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`);
    }
    await context.close();
  }
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  await page.goto(`${origin}/`, { waitUntil: "networkidle" });
  await page.keyboard.press("/");
  await page.locator("input[type=search]").fill("carryOver");
  const first = page.locator(".result").first();
  await first.waitFor();
  await first.click();
  await page.waitForURL((url) => url.pathname !== "/");
} finally {
  await browser.close();
  server.close();
}

for (const problem of problems) console.log(problem);
console.log(`${pages.size} pages, ${anchors} anchors, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
