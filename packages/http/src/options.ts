import { type Latchkey, ownFieldsOf } from "@latchkey/core";
import type { Authenticate } from "./auth/authenticate.js";
import { printError } from "./routing/respond-to-error.js";

/** Options of `createHandler`. */
export interface HandlerOptions {
  /** Carries out the operations. Root keys may belong to any workspace of its store. */
  readonly latchkey: Latchkey;
  /** Your own authentication, instead of root keys. */
  readonly authenticate?: Authenticate;
  /**
   * Lets everyone call keys.verifyKey without a root key, for all APIs of the latchkey's own workspace. Its Authorization header is
   * then ignored. Default: false.
   */
  readonly publicVerify?: boolean;
  /** Whether callers with the permissions for it can manage root keys: serves the operations `rootKeys.*`. Default: true. */
  readonly rootKeys?: boolean;
  /** The path before `/v1` and `/v2`, such as `/keys`. Default: empty. */
  readonly basePath?: string;
  /** Whether v2 of the API is served as well, below `/v2/`. Default: true. */
  readonly v2?: boolean;
  /** Whether `openapi.json`, `docs` and `errors/<code>` of each version are served, without a root key. Default: true. */
  readonly docs?: boolean;
  /**
   * Base URL of pages about error codes: the `docs` of an error is this URL, `/` and the code. Default: errors have no `docs`. The
   * handler's own pages are at `/v1/errors`, below the address at which clients reach it.
   */
  readonly docsBaseUrl?: string;
  /** Longest body in bytes: a whole number >= 1; for migrations.createKeys, 16 times this. Default: 65,536. */
  readonly maxBodyBytes?: number;
  /** Called with every error behind a 500 or 503, so that you can log it. Errors that it throws are ignored. Default: `console.error`. */
  readonly onError?: (error: unknown, requestId: string) => void;
}

/** The options, with defaults filled in. */
export interface Settings {
  readonly latchkey: Latchkey;
  readonly authenticate: Authenticate | null;
  readonly publicVerify: boolean;
  readonly rootKeys: boolean;
  readonly basePath: string;
  readonly v2: boolean;
  readonly docs: boolean;
  /** Without a slash at its end; null for none. */
  readonly docsBaseUrl: string | null;
  readonly maxBodyBytes: number;
  readonly onError: (error: unknown, requestId: string) => void;
}

const KNOWN: ReadonlySet<string> = new Set<keyof HandlerOptions>([
  "latchkey",
  "authenticate",
  "publicVerify",
  "rootKeys",
  "basePath",
  "v2",
  "docs",
  "docsBaseUrl",
  "maxBodyBytes",
  "onError",
]);

const DEFAULT_MAX_BODY_BYTES = 65_536;

/** Checks the options and fills in the defaults. @throws TypeError naming the wrong option and its bound. */
export function settingsOf(options: HandlerOptions): Settings {
  if (typeof options !== "object" || options === null)
    throw new TypeError('"options" must be an object');
  // createConsole and createGuard take the latchkey as first argument; this takes it among the options.
  if ("verifyKey" in options)
    throw new TypeError("createHandler takes an object of options: { latchkey }");
  const unknown = Object.keys(options).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not an option of createHandler`);
  const {
    latchkey,
    authenticate = null,
    publicVerify = false,
    rootKeys = true,
    basePath = "",
    v2 = true,
    docs = true,
    docsBaseUrl = null,
    maxBodyBytes = DEFAULT_MAX_BODY_BYTES,
    onError = printError,
  } = ownFieldsOf(options, { known: KNOWN, stated: [] }) as unknown as HandlerOptions;
  if (typeof latchkey?.authenticateRootKey !== "function")
    throw new TypeError('"latchkey" must be the object that createLatchkey returns');
  if (authenticate !== null && typeof authenticate !== "function")
    throw new TypeError('"authenticate" must be a function');
  if (typeof publicVerify !== "boolean")
    throw new TypeError('"publicVerify" must be true or false');
  if (typeof rootKeys !== "boolean") throw new TypeError('"rootKeys" must be true or false');
  if (typeof basePath !== "string" || !/^(?:\/[A-Za-z0-9._~-]+)*$/.test(basePath))
    throw new TypeError('"basePath" must be empty, or like "/keys": no slash at its end');
  if (typeof v2 !== "boolean") throw new TypeError('"v2" must be true or false');
  if (typeof docs !== "boolean") throw new TypeError('"docs" must be true or false');
  if (docsBaseUrl !== null && (typeof docsBaseUrl !== "string" || !URL.canParse(docsBaseUrl)))
    throw new TypeError('"docsBaseUrl" must be a URL');
  if (!Number.isSafeInteger(maxBodyBytes) || maxBodyBytes < 1)
    throw new TypeError('"maxBodyBytes" must be a whole number >= 1');
  if (typeof onError !== "function") throw new TypeError('"onError" must be a function');
  return {
    latchkey,
    authenticate,
    publicVerify,
    rootKeys,
    basePath,
    v2,
    docs,
    docsBaseUrl: docsBaseUrl?.replace(/\/$/, "") ?? null,
    maxBodyBytes,
    onError,
  };
}
