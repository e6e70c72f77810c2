import { type Latchkey, LatchkeyError, type PortalSession } from "@latchkey/core";
import {
  isFromOwnPage,
  jsonResponse,
  type PageWords,
  pageWithoutSlash,
  readJsonObject,
  refusalOf,
  refuse,
  refuseMethod,
  servePage,
} from "@latchkey/http/pages";
import { checkOptions, type FindCustomer, type PortalOptions } from "./options.js";
import { ENGLISH } from "./texts.js";

/** A portal as a function of web standard requests. It never rejects. */
export type FetchPortal = (request: Request) => Promise<Response>;

/**
 * Without this header, the portal answers only with its page and its files: only a script of the same origin can send it. In addition, the
 * cookie is `SameSite=Strict`, and `Sec-Fetch-Site` is checked.
 */
const OWN_HEADER = "x-latchkey-portal";

/** The customer of the page, escaped as in a URL: in another tab of the browser, somebody else may have signed in since. */
const CUSTOMER_HEADER = "x-latchkey-portal-customer";

/** The calls of a customer, by path. */
const CALLS: Readonly<
  Record<
    string,
    {
      readonly method: "GET" | "POST";
      readonly run: (own: PortalSession, input: never) => Promise<unknown>;
    }
  >
> = {
  "keys.list": { method: "GET", run: (own, input) => own.listMyKeys(input) },
  "keys.usage": { method: "GET", run: (own, input) => own.usageOfMyKey(input) },
  "keys.create": { method: "POST", run: (own, input) => own.createMyKey(input) },
  "keys.rename": { method: "POST", run: (own, input) => own.renameMyKey(input) },
  "keys.rotate": { method: "POST", run: (own, input) => own.rotateMyKey(input) },
  "keys.revoke": { method: "POST", run: (own, input) => own.revokeMyKey(input) },
};

/**
 * Creates a portal: the page and its files, the customer's session, and the six calls.
 *
 * @throws TypeError naming the wrong option.
 */
export function makePortal(latchkey: Latchkey, options: PortalOptions): FetchPortal {
  if (typeof latchkey?.openPortalSession !== "function")
    throw new TypeError('"latchkey" must be the object that createLatchkey returns');
  checkOptions(options);
  const {
    basePath = "",
    session: findCustomer,
    onError,
    language = "en",
    variables = {},
  } = options;
  const { cookie = "latchkey_portal" } = options;
  const words = wordsOf(options);
  const sendFile = servePage({
    module: import.meta.url,
    ...words,
    body: "<main><latchkey-keys page></latchkey-keys></main>",
    others: { "latchkey-keys.js": "text/javascript" },
  });
  const { texts = {}, signInUrl } = options;
  const looks = { language, texts, variables, ...(signInUrl !== undefined && { signInUrl }) };

  async function respond(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === basePath) return pageWithoutSlash(words);
    if (!pathname.startsWith(`${basePath}/`)) return refuse(404, "NOT_FOUND", "no such path");
    const name = pathname.slice(basePath.length + 1);
    const call = Object.hasOwn(CALLS, name) ? CALLS[name] : undefined;
    if (name !== "session" && call === undefined)
      return (await sendFile(request, name)) ?? refuse(404, "NOT_FOUND", "no such path");
    if (!isFromOwnPage(request, OWN_HEADER))
      return refuse(403, "FORBIDDEN", "only a page of this site may ask this");
    if (call === undefined) return answerSession(request);
    if (request.method !== call.method) return refuseMethod(call.method);
    const own = await ownSession(request);
    if (own === null || !isPageOf(request, own)) throw nobody();
    const input = call.method === "GET" ? inputOf(searchParams) : await readJsonObject(request);
    return jsonResponse(await call.run(own, input as never).catch(refuseInTheirWords));
  }

  /** The session: GET returns it, POST starts it, DELETE ends it. */
  async function answerSession(request: Request): Promise<Response> {
    switch (request.method) {
      case "GET":
        return jsonResponse(stateOf(await ownSession(request)));
      case "POST":
        return begin(request);
      case "DELETE": {
        const own = await openByCookie(request);
        if (own !== null) await revoke(own.sessionId);
        return jsonResponse(stateOf(null), 200, setCookie("", 0));
      }
      default:
        return refuseMethod("GET, POST, DELETE");
    }
  }

  /** Starts a session: with the host's own sign-in if there is one, otherwise with the secret of the link. */
  async function begin(request: Request): Promise<Response> {
    let secret = bearerOf(request);
    if (findCustomer !== undefined) {
      const customer = await askHost(findCustomer, request);
      // Includes undefined, the result of a JavaScript function without a return.
      if (customer == null) throw nobody();
      const before = await openByCookie(request);
      if (before !== null) await revoke(before.sessionId);
      ({ secret } = await latchkey.createPortalSession(customer).catch(refuseForTheHost));
    }
    const own = secret === null ? null : await latchkey.openPortalSession(secret);
    if (secret === null || own === null) throw nobody();
    const seconds = Math.max(1, Math.floor((own.expires - latchkey.now()) / 1_000));
    return jsonResponse(stateOf(own), 200, setCookie(secret, seconds));
  }

  async function revoke(sessionId: string): Promise<void> {
    try {
      await latchkey.revokePortalSession({ sessionId });
    } catch (error) {
      // Somebody else has already ended it.
      if (!(error instanceof LatchkeyError) || error.code !== "NOT_FOUND") throw error;
    }
  }

  function stateOf(own: PortalSession | null) {
    const { sessionId, identityId: _, actor: __, ...shown } = own ?? {};
    return {
      session: sessionId === undefined ? null : JSON.parse(JSON.stringify(shown)),
      signIn: findCustomer === undefined ? "link" : "host",
      now: latchkey.now(),
      ...looks,
    };
  }

  /** The session of a request; null if the host returns somebody else, or nobody. */
  async function ownSession(request: Request): Promise<PortalSession | null> {
    const own = await openByCookie(request);
    if (own === null || findCustomer === undefined) return own;
    const customer = await askHost(findCustomer, request);
    const { externalId, actor } = customer ?? {};
    return externalId === own.externalId && actor === own.actor ? own : null;
  }

  async function openByCookie(request: Request): Promise<PortalSession | null> {
    const pairs = (request.headers.get("cookie") ?? "").split(/; */);
    const pair = pairs.find((one) => one.startsWith(`${cookie}=`));
    const secret = pair?.slice(cookie.length + 1) ?? "";
    return secret === "" ? null : latchkey.openPortalSession(secret);
  }

  /** No script can read it, no other site can cause it to be sent, and it is never sent without TLS. */
  const setCookie = (value: string, seconds: number) => ({
    "set-cookie": `${cookie}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict; Secure`,
  });

  return async (request) => {
    try {
      return await respond(request);
    } catch (error) {
      return refusalOf(error, onError);
    }
  };
}

/** Calls the host. Its errors are no business of the customer, who cannot fix them. @throws An error for the host's log. */
async function askHost(findCustomer: FindCustomer, request: Request) {
  try {
    return await findCustomer(request);
  } catch (error) {
    if (!(error instanceof LatchkeyError) || error.code === "STORE_UNAVAILABLE") throw error;
    throw new Error(`"session" of the portal failed: ${error.message}`, { cause: error });
  }
}

/** Refuses what the host allows, if it is invalid. Customers must not see why, and cannot fix it. @throws An error for the host's log. */
function refuseForTheHost(error: unknown): never {
  const { code, message } = error instanceof LatchkeyError ? error : { code: "", message: "" };
  if (code !== "BAD_REQUEST" && code !== "NOT_FOUND" && code !== "PRECONDITION_FAILED") throw error;
  throw new Error(`"session" of the portal returned an invalid value: ${message}`, {
    cause: error,
  });
}

/** Rewords errors about ceilings, which customers know nothing of. @throws The error, in words for customers. */
function refuseInTheirWords(error: unknown): never {
  if (!(error instanceof LatchkeyError) || error.reason !== "above-ceiling") throw error;
  const { field, limit } = error.details;
  if (field !== "externalId") throw error;
  const { code, reason, details } = error;
  const message = ENGLISH.errorTooMany.replace("{limit}", `${limit}`);
  throw new LatchkeyError(code, message, { reason, details, cause: error });
}

/** The words of the page before its script runs. */
export function wordsOf({ title, language = "en", texts = {} }: PortalOptions): PageWords {
  const { title: usual, noScript } = { ...ENGLISH, ...texts };
  return { title: title ?? usual, language, noScript };
}

const nobody = () =>
  new LatchkeyError("UNAUTHORIZED", "nobody is signed in, or the session is over");

/** Whether the page belongs to the customer of the session. The host's own pages may omit the header. */
function isPageOf({ headers }: Request, { externalId }: PortalSession): boolean {
  const customer = headers.get(CUSTOMER_HEADER);
  return customer === null || customer === encodeURIComponent(externalId);
}

/** RFC 6750 section 2.1. */
function bearerOf(request: Request): string | null {
  const header = request.headers.get("authorization") ?? "";
  return /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1] ?? null;
}

/** The fields of a query. In number fields, a text that is a whole number becomes one. */
function inputOf(query: URLSearchParams): Record<string, unknown> {
  const isNumber = (name: string, value: string) =>
    (name === "limit" || name === "days") && /^\d{1,9}$/.test(value);
  return Object.fromEntries(
    [...query].map(([name, value]) => [name, isNumber(name, value) ? Number(value) : value]),
  );
}
