import { packageFile } from "../package-file.js";
import { once } from "../routing/once.js";
import type { Page, PageContent } from "./page.js";

/** Version of the renderer in `page/swagger-ui`. A test compares it with the package that the files are copied from. */
export const SWAGGER_UI_VERSION = "5.35.0";

/**
 * Everything from this server, nothing inline, no frame around the page. Images in the style sheet of the renderer are data
 * URLs.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const UTF8 = "charset=utf-8";

/** The path contains the version, so its content never changes. */
const FOREVER = { "cache-control": "public, max-age=31536000, immutable" };

const RENDERER = `docs/swagger-ui-${SWAGGER_UI_VERSION}`;

/** The page that displays the document, and its files. */
export const REFERENCE_PAGES: readonly Page[] = [
  {
    name: "docs",
    method: "GET",
    content: once(async () => ({
      body: new TextDecoder()
        .decode(await readPageFile("index.html"))
        .replaceAll("{{swagger-ui}}", SWAGGER_UI_VERSION),
      headers: {
        "content-type": `text/html; ${UTF8}`,
        "content-security-policy": CONTENT_SECURITY_POLICY,
        "referrer-policy": "no-referrer",
      },
    })),
  },
  file("docs/page.js", "page.js", `text/javascript; ${UTF8}`),
  file("docs/page.css", "page.css", `text/css; ${UTF8}`),
  ofRenderer("swagger-ui-bundle.js", `text/javascript; ${UTF8}`),
  ofRenderer("swagger-ui-bundle.js.LICENSE.txt", `text/plain; ${UTF8}`),
  ofRenderer("swagger-ui.css", `text/css; ${UTF8}`),
];

function file(name: string, path: string, type: string, further = {}): Page {
  const content = once(
    async (): Promise<PageContent> => ({
      body: await readPageFile(path),
      headers: { "content-type": type, ...further },
    }),
  );
  return { name, method: "GET", content };
}

function ofRenderer(path: string, type: string): Page {
  return file(`${RENDERER}/${path}`, `swagger-ui/${path}`, type, FOREVER);
}

/** Read on request only, so that a host that bundles this package can leave out the files. */
async function readPageFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const { readFile } = await import("node:fs/promises");
  return new Uint8Array(await readFile(packageFile(`page/${path}`)));
}
