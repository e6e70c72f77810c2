import {
  createLatchkey,
  type EventListener,
  interceptStore,
  type KeyStore,
  type Latchkey,
} from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { createHandler, type Handler, type HandlerOptions } from "../index.js";
import { documentOf } from "../openapi/document.js";
import { OPERATIONS } from "../operations/table.js";
import { FORM_MEDIA } from "../request/http-request.js";
import { V1 } from "../v1.js";
import { V2 } from "../v2/contract.js";
import { createResponseChecker } from "./check-response.js";

/** A response with its body. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it expects there
  readonly body: any;
  readonly text: string;
}

/** Deviations of a call from the usual one. */
export interface CallOptions {
  /** Null sends no Authorization header. A root key for everything unless given. */
  readonly token?: string | null;
  readonly method?: string;
  /** v1 unless given. */
  readonly version?: "v1" | "v2";
  readonly headers?: Readonly<Record<string, string>>;
}

/** A handler on an empty memory store, with a clock that stands still until a test moves it. */
export interface TestService {
  readonly latchkey: Latchkey;
  readonly handler: Handler;
  readonly store: KeyStore;
  /** A root key that may do everything. */
  readonly root: string;
  now(): number;
  /** Moves the clock forward. */
  advance(ms: number): void;
  /** A root key with exactly these permissions. */
  rootKey(...permissions: string[]): Promise<string>;
  /**
   * Sends a request, and checks the response against the document; also the input, if one was accepted.
   */
  send(request: Request, sent?: object): Promise<Response>;
  /** Calls an operation: `input` becomes the query of a GET, the body of a POST: JSON, or a form. */
  call(name: string, input?: object, options?: CallOptions): Promise<Reply>;
  /** Calls an operation that must succeed, and returns its body. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ok(name: string, input?: object, options?: CallOptions): Promise<any>;
}

/** 2026-03-10T12:00:00Z: no edge of a day, a month or a window of a minute. */
export const START = Date.UTC(2026, 2, 10, 12) + 12_345;

const VAULT = { current: "v1", keys: { v1: Uint8Array.from({ length: 32 }, (_, at) => at) } };

/** Different from the vault's: no two rings may share a secret. */
const TOKENS = { current: "t1", keys: { t1: Uint8Array.from({ length: 32 }, (_, at) => at + 7) } };

const checkV1 = createResponseChecker(documentOf(V1, ""));
const checkV2 = createResponseChecker(documentOf(V2, ""));

const METHODS = new Map(OPERATIONS.map(({ name, method }) => [name, method]));
const FORMS = new Set(OPERATIONS.flatMap(({ name, isForm }) => (isForm === true ? [name] : [])));

/** Opens a service for one test. */
export async function openService(
  options: Omit<HandlerOptions, "latchkey"> & {
    store?: KeyStore;
    vault?: false;
    onEvent?: EventListener;
  } = {},
): Promise<TestService> {
  const { store = memoryStore(), vault, onEvent, ...handlerOptions } = options;
  let now = START;
  const latchkey = createLatchkey({
    store,
    tokens: TOKENS,
    clock: () => now,
    ...(vault !== false && { vault: VAULT }),
    ...(onEvent !== undefined && { onEvent }),
  });
  const handler = createHandler({ latchkey, ...handlerOptions });
  const rootKey = async (...permissions: string[]) =>
    (await latchkey.createRootKey({ permissions })).key;
  const root = await rootKey("*");

  async function send(request: Request, sent?: object): Promise<Response> {
    const response = await handler(request);
    const { status, headers } = response;
    const path = new URL(request.url).pathname.slice(handlerOptions.basePath?.length ?? 0);
    const { body } = await read(response.clone());
    const check = path.startsWith("/v2/") ? checkV2 : checkV1;
    const problems = check({
      method: request.method,
      path,
      status,
      headers,
      body,
      sent,
    });
    if (problems.length > 0)
      throw new Error(`${path}: not as the document says: ${problems.join("; ")}`);
    return response;
  }

  async function call(name: string, input: object = {}, options: CallOptions = {}): Promise<Reply> {
    const { token = root, version = "v1", headers = {} } = options;
    const { method = version === "v2" ? "POST" : (METHODS.get(name) ?? "GET") } = options;
    const isRead = method === "GET" || method === "HEAD";
    const isForm = version === "v1" && FORMS.has(name);
    const query = isRead ? `?${new URLSearchParams(Object.entries(input))}` : "";
    return read(
      await send(
        new Request(`http://keys.test/${version}/${name}${query === "?" ? "" : query}`, {
          method,
          headers: {
            ...(token !== null && { authorization: `Bearer ${token}` }),
            ...(!isRead && { "content-type": isForm ? FORM_MEDIA : "application/json" }),
            ...headers,
          },
          ...(!isRead && {
            body: isForm
              ? new URLSearchParams(Object.entries(input)).toString()
              : JSON.stringify(input),
          }),
        }),
        isRead ? undefined : input,
      ),
    );
  }

  async function ok(name: string, input?: object, options?: CallOptions) {
    const reply = await call(name, input, options);
    if (reply.status !== 200) throw new Error(`${name} answered ${reply.status}: ${reply.text}`);
    return reply.body;
  }

  return {
    latchkey,
    handler,
    store,
    root,
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
    rootKey,
    send,
    call,
    ok,
  };
}

/** A service whose store fails with this error once `fail` is called, and the errors reported to its host. */
export async function openFailing(error: unknown) {
  let isFailing = false;
  const told: [unknown, string][] = [];
  const service = await openService({
    store: interceptStore(memoryStore(), (_, run) => (isFailing ? Promise.reject(error) : run())),
    onError: (caught, requestId) => told.push([caught, requestId]),
  });
  const fail = () => {
    isFailing = true;
  };
  return { service, told, fail };
}

/** Reads a response. */
export async function read(response: Response): Promise<Reply> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? null : JSON.parse(text),
    text,
  };
}
