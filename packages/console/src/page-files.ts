import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

/** A file of the page, as it is sent. */
export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly compressed: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Everything from here, nothing inline, no frame around the page, no form that leaves it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="none" stroke="#5b6cff" stroke-width="1.8" stroke-linecap="round" d="M9.2 6.8 14 2M11 5l2 2"/><circle cx="5.8" cy="10.2" r="3.6" fill="none" stroke="#5b6cff" stroke-width="1.8"/></svg>`;

/**
 * The page and its files, by their names below the console. The names of script and style hold a hash of their content, so that both
 * may be kept for ever.
 */
export async function readPageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  const [script, style] = await Promise.all(["app.js", "app.css"].map(readBuilt));
  const scriptName = `app-${hashOf(script)}.js`;
  const styleName = `app-${hashOf(style)}.css`;
  const page = new TextEncoder().encode(pageOf(scriptName, styleName));
  return new Map([
    ["", fileOf(page, "text/html", { "content-security-policy": CONTENT_SECURITY_POLICY })],
    [scriptName, fileOf(script, "text/javascript", FOREVER)],
    [styleName, fileOf(style, "text/css", FOREVER)],
    ["icon.svg", fileOf(new TextEncoder().encode(ICON), "image/svg+xml", FOREVER)],
  ]);
}

/** Run by the page at the address without a slash. Not inline code of a stranger: the policy names it by its hash. */
const ADD_SLASH = 'location.replace(location.pathname + "/" + location.hash)';

/**
 * What is answered at the address of the console without a slash at its end: relative addresses would lead beside it. Not a redirect: a
 * proxy may have changed the path, so only the browser knows the address.
 */
export function pageWithoutSlash(): Response {
  const hash = createHash("sha256").update(ADD_SLASH).digest("base64");
  return new Response(
    `<!doctype html><title>latchkey console</title><script>${ADD_SLASH}</script>`,
    {
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": `default-src 'none'; script-src 'sha256-${hash}'; frame-ancestors 'none'`,
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      },
    },
  );
}

/** Whether the page may have a file of this name: nothing is read for any other. */
export function isFileName(name: string): boolean {
  return name === "" || /^(?:app-[0-9a-f]+\.(?:js|css)|icon\.svg)$/.test(name);
}

const FOREVER = { "cache-control": "public, max-age=31536000, immutable" };

/** In `src` and in `dist` this file is at the same depth. */
async function readBuilt(name: string | undefined): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(new URL(`../dist/page/${name}`, import.meta.url)));
}

function hashOf(content: Uint8Array | undefined): string {
  return createHash("sha256")
    .update(content ?? "")
    .digest("hex")
    .slice(0, 12);
}

function fileOf(
  body: Uint8Array<ArrayBuffer> = new Uint8Array(),
  type: string,
  further: Readonly<Record<string, string>>,
): PageFile {
  const headers = { "content-type": `${type}; charset=utf-8`, vary: "accept-encoding", ...further };
  return { body, compressed: new Uint8Array(gzipSync(body, { level: 9 })), headers };
}

function pageOf(script: string, style: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>latchkey console</title>
    <link rel="icon" href="icon.svg">
    <link rel="stylesheet" href="${style}">
    <script type="module" src="${script}"></script>
  </head>
  <body><noscript>The console needs JavaScript.</noscript></body>
</html>
`;
}
