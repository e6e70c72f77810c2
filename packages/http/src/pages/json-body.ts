import { parseJsonObject } from "../request/json.js";
import { WebRequest } from "../request/web-request.js";

/** Largest body of a call of a page, in bytes. Most operations behind a page accept less. */
export const MAX_BODY_BYTES = 1_048_576;

/**
 * Reads the body of a call of a page: a JSON object.
 *
 * @throws LatchkeyError `PAYLOAD_TOO_LARGE` as soon as it has more than a mebibyte, `BAD_REQUEST` if it is not one.
 */
export async function readJsonObject(request: Request): Promise<Readonly<Record<string, unknown>>> {
  return parseJsonObject(await new WebRequest(request).readBody(MAX_BODY_BYTES));
}
