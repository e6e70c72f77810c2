import {
  type KeyView,
  type Latchkey,
  LatchkeyError,
  type LeakPolicy,
  withTimeout,
} from "@latchkey/core";
import { type Handler, handlerOf } from "../handler.js";
import type { HttpRequest } from "../request/http-request.js";
import { createRequestIds } from "../request/request-id.js";
import {
  type HttpResponse,
  MethodNotAllowedError,
  successResponse,
} from "../routing/http-response.js";
import { report, respondToError } from "../routing/respond-to-error.js";
import { V1 } from "../v1.js";
import {
  isLeakPolicy,
  type LeakHandlerOptions,
  type LeakPolicyOption,
  leakSettingsOf,
} from "./options.js";
import { type FoundToken, readReports } from "./read-reports.js";
import { isSignedBy } from "./signature.js";

/** Maximum size of a report: 8 MiB. */
const MAX_BYTES = 8 * 1_048_576;

/** Maximum tokens per call of core. */
const AT_ONCE = 100;

/** How long a function of the host may take. */
const DEADLINE_MS = 5_000;

/** Maximum length of the id of a public key. */
const MAX_ID = 256;

/** The answer to the code host about a token: whether it was a key. */
interface Label {
  readonly token_raw: string;
  readonly token_type: string;
  readonly label: "true_positive" | "false_positive";
}

/**
 * Creates the receiving end of a code host's secret scanning: a handler for the POST of a report, on any path. It revokes keys of the
 * latchkey's workspace, and root keys of every workspace; the response marks them as `true_positive`.
 *
 * A report that is not signed with one of `publicKeys` gets a 401, and changes nothing. A repeated report gets the same response, and
 * changes nothing. If the store fails in the middle, the response is a 503, and the repeated report continues.
 *
 * @throws TypeError naming the wrong option and its bound.
 * @see https://docs.github.com/en/code-security/secret-scanning/secret-scanning-partnership-program/secret-scanning-partner-program
 */
export function createLeakHandler(latchkey: Latchkey, options: LeakHandlerOptions): Handler {
  if (typeof latchkey?.reportLeaks !== "function")
    throw new TypeError('"latchkey" must be the object that createLatchkey returns');
  const { findPublicKey, policy, onError } = leakSettingsOf(options);
  const newRequestId = createRequestIds();

  async function handle(request: HttpRequest, requestId: string): Promise<readonly Label[]> {
    if (request.method !== "POST") throw new MethodNotAllowedError("POST");
    const bytes = await readSigned(request, findPublicKey);
    const found = readReports(bytes);
    const told = typeof policy === "function" ? carefully(policy, requestId) : policy;
    const labels: Label[] = [];
    for (let at = 0; at < found.length; at += AT_ONCE)
      labels.push(...(await revoke(latchkey, found.slice(at, at + AT_ONCE), told)));
    return labels;
  }

  /** Runs the host's policy. If it fails, the key is disabled: a leaked key must not stay valid because of that. */
  function carefully(decide: Exclude<LeakPolicyOption, string>, requestId: string) {
    return async (key: KeyView): Promise<LeakPolicy> => {
      try {
        const late = () => new Error(`"policy" took longer than ${DEADLINE_MS} ms`);
        const decided: unknown = await withTimeout(
          DEADLINE_MS,
          promised(() => decide(key)),
          late,
        );
        if (isLeakPolicy(decided)) return decided;
        throw new TypeError('"policy" must return "disable", "report", "delete" or "rotate"');
      } catch (error) {
        report(onError, error, requestId);
        return "disable";
      }
    };
  }

  function refuse(error: unknown, requestId: string): HttpResponse {
    const response = respondToError(error, V1, requestId, { docsBaseUrl: null, onError });
    if (response.status === 401) response.headers["www-authenticate"] = "Signature";
    return response;
  }

  return handlerOf({
    async respond(request) {
      const requestId = newRequestId();
      try {
        return successResponse(await handle(request, requestId), requestId);
      } catch (error) {
        return refuse(error, requestId);
      }
    },
    needsWebRequest: false,
    respondToError: (error) => refuse(error, newRequestId()),
  });
}

/** The body, if it is signed. The headers and the public key are checked before the body is read. */
async function readSigned(
  request: HttpRequest,
  findPublicKey: ReturnType<typeof leakSettingsOf>["findPublicKey"],
): Promise<Uint8Array> {
  const id = request.header("github-public-key-identifier");
  const signature = request.header("github-public-key-signature");
  if (id === null || id.length > MAX_ID || signature === null) throw unsigned();
  const late = () =>
    new LatchkeyError("STORE_UNAVAILABLE", "the public keys did not arrive in time", {
      outcome: "not-applied",
    });
  const key = await withTimeout(
    DEADLINE_MS,
    promised(() => findPublicKey(id)),
    late,
  );
  if (key === null) throw unsigned();
  const bytes = await request.readBody(MAX_BYTES);
  if (!isSignedBy(key, bytes, signature)) throw unsigned();
  return bytes;
}

/** The same message for every cause. */
function unsigned(): LatchkeyError {
  return new LatchkeyError("UNAUTHORIZED", "the request carries no valid signature");
}

async function revoke(
  latchkey: Latchkey,
  found: readonly FoundToken[],
  told: LeakPolicy | ((key: KeyView) => Promise<LeakPolicy>),
): Promise<readonly Label[]> {
  const leaks = found.map(({ token, url, source }) => ({
    key: token,
    url: asPlace(url, 2_048),
    source: asPlace(source, 256),
  }));
  const answer =
    typeof told === "function"
      ? await latchkey.reportLeaks({ leaks }, { decide: told })
      : await latchkey.reportLeaks({ leaks, policy: told });
  return found.map(({ token, type }, at) => ({
    token_raw: token,
    token_type: type,
    label: answer.leaks[at] == null ? "false_positive" : "true_positive",
  }));
}

/** A place as the audit log can store it: cut, in well-formed Unicode, without NUL. A strange place must not refuse a report. */
function asPlace(text: string | null | undefined, maxLength: number): string | undefined {
  return text?.replaceAll("\0", "").slice(0, maxLength).toWellFormed();
}

/** The result or error of a function of the host, as a promise. */
async function promised<Answer>(run: () => Answer | Promise<Answer>): Promise<Answer> {
  return run();
}
