import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { once } from "../routing/once.js";
import { refuseMethod } from "./responses.js";
import { isWrittenByUs } from "./written-by-us.js";

/** A file of a page, ready to be sent. */
interface PageFile {
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

/** Texts of a page before its script runs. */
export interface PageWords {
  readonly title: string;
  /** Language of the texts. Default: `en`. */
  readonly language?: string;
  /** Shown without JavaScript. */
  readonly noScript: string;
}

/** The source of a page. */
export interface PageSource extends PageWords {
  /** `import.meta.url` of a file in the first level of `src` or `dist` of a package with `app.js` and `app.css` in `dist/page`. */
  readonly module: string;
  /** Body of the page before its script runs. Default: empty. */
  readonly body?: string;
  /** Further files of the folder that are served under their own names, with the type of each. */
  readonly others?: Readonly<Record<string, string>>;
}

/** Sends a file of a page by its name; null for any other name. The files are read at the first request. */
export type SendPageFile = (request: Request, name: string) => Promise<Response | null>;

/** Creates a function that sends the files of a page. */
export function servePage(source: PageSource): SendPageFile {
  const files = once(() => readPageFiles(source));
  const isFileName = (name: string) =>
    name === "" ||
    /^(?:app-[0-9a-f]+\.(?:js|css)|icon\.svg|index\.html)$/.test(name) ||
    Object.hasOwn(source.others ?? {}, name);
  return async (request, name) => {
    const file = isFileName(name) ? (await files()).get(name) : undefined;
    return file === undefined ? null : sendFile(request, file);
  };
}

/**
 * The page and its files, by their names below its address. The names of script and style contain a hash of their content, so that both
 * can be cached for ever.
 */
async function readPageFiles(source: PageSource): Promise<ReadonlyMap<string, PageFile>> {
  // Not `import.meta.url` itself: bundlers copy a file that is named by a fixed path relative to it, and fail for a folder.
  const folder = new URL("../dist/page/", source.module);
  const read = async (name: string) => new Uint8Array(await readFile(new URL(name, folder)));
  const [script, style] = await Promise.all([read("app.js"), read("app.css")]);
  const scriptName = `app-${hashOf(script)}.js`;
  const styleName = `app-${hashOf(style)}.css`;
  const page = fileOf(
    new TextEncoder().encode(pageOf(source, scriptName, styleName)),
    "text/html",
    { "content-security-policy": CONTENT_SECURITY_POLICY },
  );
  const others = await Promise.all(
    Object.entries(source.others ?? {}).map(
      async ([name, type]) => [name, fileOf(await read(name), type, {})] as const,
    ),
  );
  return new Map([
    ...others,
    ["", page],
    ["index.html", page],
    [scriptName, fileOf(script, "text/javascript", FOREVER)],
    [styleName, fileOf(style, "text/css", FOREVER)],
    ["icon.svg", fileOf(new TextEncoder().encode(ICON), "image/svg+xml", FOREVER)],
  ]);
}

/**
 * The script of the page at the address without a final slash. The policy allows it by its hash. It uses only the last part of the path,
 * after `./`: a path that begins with two slashes would be the address of another site. A server that redirects from the address with the
 * slash to the one without, as Next.js does, would do so for ever: for that case the page has another name, `index.html`.
 */
const ADD_SLASH =
  'const isSentBack = performance.getEntriesByType("navigation")[0]?.redirectCount > 0; location.replace("./" + location.pathname.split("/").pop() + (isSentBack ? "/index.html" : "/") + location.hash)';

/**
 * The response at the address of a page without a final slash, where relative addresses would be wrong. It is not a redirect, because a
 * proxy may have changed the path, and only the browser knows the address.
 */
export function pageWithoutSlash({ title, language = "en", noScript }: PageWords): Response {
  const hash = createHash("sha256").update(ADD_SLASH).digest("base64");
  const page = `<!doctype html><html lang="${language}"><title>${escaped(title)}</title><script>${ADD_SLASH}</script><noscript>${escaped(noScript)}</noscript></html>`;
  return new Response(page, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none'; script-src 'sha256-${hash}'; frame-ancestors 'none'`,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    },
  });
}

/** A text as it is written between two tags. */
const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const FOREVER = { "cache-control": "public, max-age=31536000, immutable" };

function hashOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 12);
}

function fileOf(
  body: Uint8Array<ArrayBuffer>,
  type: string,
  further: Readonly<Record<string, string>>,
): PageFile {
  const headers = { "content-type": `${type}; charset=utf-8`, vary: "accept-encoding", ...further };
  return { body, compressed: new Uint8Array(gzipSync(body, { level: 9 })), headers };
}

function pageOf(
  { title, language = "en", noScript, body = "" }: PageSource,
  script: string,
  style: string,
): string {
  return `<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>${escaped(title)}</title>
    <link rel="icon" href="icon.svg">
    <link rel="stylesheet" href="${style}">
    <script type="module" src="${script}"></script>
  </head>
  <body>${body}<noscript>${escaped(noScript)}</noscript></body>
</html>
`;
}

function sendFile(request: Request, { body, compressed, headers }: PageFile): Response {
  if (request.method !== "GET" && request.method !== "HEAD") return refuseMethod("GET, HEAD");
  const takesGzip =
    isWrittenByUs(request) && /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
  return new Response(request.method === "HEAD" ? null : takesGzip ? compressed : body, {
    headers: {
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      ...headers,
      ...(takesGzip && { "content-encoding": "gzip" }),
    },
  });
}
