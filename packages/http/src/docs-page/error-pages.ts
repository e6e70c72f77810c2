import { ERROR_NOTES } from "../openapi/error-responses.js";
import { type PublicErrorCode, STATUS } from "../routing/http-response.js";
import type { Page } from "./page.js";

/** A page for each error code, such as `errors/NOT_FOUND`. The `docs` of an error can point to it. */
export const ERROR_PAGES: readonly Page[] = (Object.keys(STATUS) as PublicErrorCode[]).map(
  (code) => ({
    name: `errors/${code}`,
    method: "GET",
    content: async () => ({
      body: html(code),
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
      },
    }),
  }),
);

/** Without style and script: the policy of the page allows none. */
function html(code: PublicErrorCode): string {
  const note = ERROR_NOTES[code].replaceAll(/`(.*?)`/g, "<code>$1</code>");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${code}</title>
<h1>${code}</h1>
<p>HTTP status ${STATUS[code]}. ${note}</p>
<p>The error message has the details. Quote its <code>requestId</code> to whoever runs the service.</p>
</html>
`;
}
