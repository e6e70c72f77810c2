import { createStore } from "./store.js";

/** The session of the operator. If nobody is signed in, the server returns only how to sign in. */
export interface Session {
  readonly signIn: SignIn;
  readonly workspaceId: string;
  readonly permissions: readonly string[];
  readonly actor?: string;
  /** Whether the host allows the operations on root keys. */
  readonly rootKeys: boolean;
  /** Tasks that the host allows besides the operations of HTTP. */
  readonly tasks: readonly string[];
  readonly now: number;
}

export type SignIn = "root-key" | "host" | "link";

/** Whether somebody is signed in, as far as is known. */
export type SessionState =
  | { readonly kind: "asking" }
  | { readonly kind: "in"; readonly session: Session }
  /** `had`: the session that has ended. The page keeps its contents. */
  | { readonly kind: "out"; readonly signIn: SignIn; readonly had: Session | null }
  | { readonly kind: "failed"; readonly error: ApiError };

export const sessionStore = createStore<SessionState>({ kind: "asking" });

/** The root key. It is kept only here: in no storage, not in the address, not in the page. */
let rootKey: string | null = null;

/** Functions that drop cached data, which the next operator must not see. */
const forgetters: (() => void)[] = [];
let lastOperator = "";

/** `forget` is called before another operator is signed in, or the same one with other permissions, and after signing out. */
export function whenOperatorChanges(forget: () => void): void {
  forgetters.push(forget);
}

function noteOperator(session: Session | null): void {
  const { workspaceId, permissions, actor } = session ?? {};
  const operator = JSON.stringify([workspaceId, permissions, actor]);
  if (operator !== lastOperator) for (const forget of forgetters) forget();
  lastOperator = operator;
}

/** How far the clock of the server is ahead of this one, in ms. */
let clockAhead = 0;

/** The current instant by the server's clock, which decides. */
export const serverNow = (): number => Date.now() + clockAhead;

/** Whether the server answered the last request. */
export const reachableStore = createStore(true);

/** A request that was refused or failed. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly issues: readonly { readonly path: string; readonly message: string }[] = [],
    /** Id of the request in the log of the server. */
    readonly requestId?: string,
  ) {
    super(message);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Calls an operation of the HTTP contract: reads are GET with a query, everything else is POST with JSON. */
export function call<Answer>(name: string, input: Fields = {}): Promise<Answer> {
  const isRead = /^readiness$|\.(?:get|list|read)[A-Z]/.test(name);
  return send<Answer>(`v1/${name}`, isRead, input);
}

/** Runs a task that the host allows besides these operations. */
export function runTask<Answer>(name: string, input: Fields = {}): Promise<Answer> {
  return send<Answer>(name, /^store\.|\.list/.test(name), input);
}

/** Idempotency keys of writes without an answer, by path and body. If such a write is repeated, it is not a second one. */
const unanswered = new Map<string, string>();

/**
 * Writes that create or end something. Any other write sets a state, which somebody may have changed since: a repetition must set it again
 * instead of returning the first answer.
 */
const MAKES_OR_ENDS = /\.(?:create|rotate|delete|erase|revoke|release)(?!Keys)[A-Z]/;

/** After one of these, a record from a write without an answer may be gone, so a repetition of that write must create a new one. */
const ENDS = /\.(?:delete|erase|revoke)[A-Z]/;

async function send<Answer>(path: string, isRead: boolean, input: Fields): Promise<Answer> {
  const response = isRead
    ? await request(path + queryOf(input), { method: "GET" })
    : await write(path, JSON.stringify(input));
  const body = await bodyOf(response);
  if (response.ok) return body as Answer;
  const error = errorOf(response.status, body);
  if (response.status === 401) signedOut();
  throw error;
}

async function write(path: string, body: string): Promise<Response> {
  const asked = `${path} ${body}`;
  // Not `randomUUID`, which is missing on a page without TLS.
  const key = unanswered.get(asked) ?? crypto.getRandomValues(new Uint32Array(4)).join("-");
  if (MAKES_OR_ENDS.test(path)) unanswered.set(asked, key);
  const headers = { "idempotency-key": key };
  const response = await request(path, { method: "POST", body, headers });
  // After a 401, the outcome of the first write is still unknown.
  if (response.status < 500 && response.status !== 401) unanswered.delete(asked);
  if (response.ok && ENDS.test(path)) unanswered.clear();
  return response;
}

async function request(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(path, {
      ...init,
      cache: "no-store",
      headers: {
        "x-latchkey-console": "1",
        ...(init.body === undefined ? {} : { "content-type": "application/json" }),
        ...(rootKey === null ? {} : { authorization: `Bearer ${rootKey}` }),
        ...init.headers,
      },
    });
    reachableStore.set(true);
    return response;
  } catch {
    reachableStore.set(false);
    throw new ApiError(0, "OFFLINE", "The server is not responding. Check that it is running.");
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

function errorOf(status: number, body: unknown): ApiError {
  const { error } = body as {
    error?: { code: string; message: string; issues?: []; requestId?: string };
  };
  if (error === undefined)
    return new ApiError(
      status,
      "UNKNOWN",
      `The server returned an unexpected response with status ${status}.`,
    );
  return new ApiError(status, error.code, error.message, error.issues ?? [], error.requestId);
}

function queryOf(input: Fields): string {
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== "");
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return given.length === 0 ? "" : `?${query}`;
}

function signedOut(): void {
  const state = sessionStore.get();
  rootKey = null;
  if (state.kind !== "in") return;
  sessionStore.set({ kind: "out", signIn: state.session.signIn, had: state.session });
}

/** Reads the session. If a root key is given, it is tried, and kept if it is valid. */
export async function enter(candidate?: string): Promise<void> {
  const before = sessionStore.get();
  const kept = rootKey;
  if (candidate !== undefined) rootKey = candidate;
  try {
    // Browsers refuse headers with other characters, such as the `…` of a shortened key.
    if (candidate !== undefined && !/^[!-~]+$/.test(candidate)) throw wrongKey();
    const response = await request("session", { method: "GET" });
    const body = await bodyOf(response);
    if (!response.ok) throw errorOf(response.status, body);
    const { signIn } = body as { signIn: SignIn };
    if ("permissions" in (body as object)) {
      const session = body as Session;
      clockAhead = session.now - Date.now();
      noteOperator(session);
      sessionStore.set({ kind: "in", session });
      return;
    }
    rootKey = null;
    const had = before.kind === "out" ? before.had : null;
    sessionStore.set({ kind: "out", signIn, had });
    if (candidate !== undefined) throw wrongKey();
  } catch (error) {
    if (candidate !== undefined) rootKey = kept;
    // The sign-in form shows the error, and the typed text below it must stay.
    if (candidate !== undefined || before.kind === "out") throw error;
    sessionStore.set({ kind: "failed", error: error as ApiError });
  }
}

const wrongKey = () =>
  new ApiError(
    401,
    "WRONG_KEY",
    "This root key is not valid. It may have been revoked or have expired.",
  );

/** Exchanges the token of a link for a cookie. */
export async function enterByLink(token: string): Promise<void> {
  try {
    await request("session", { method: "POST", headers: { authorization: `Bearer ${token}` } });
    await enter();
  } catch {
    // Without an answer, the link is still valid for another try, and the page says so.
    if (sessionStore.get().kind === "asking") await enter();
  }
}

/** Forgets the root key, or ends the sign-in of a link. */
export async function leave(): Promise<void> {
  const state = sessionStore.get();
  rootKey = null;
  if (state.kind !== "in") return;
  const { signIn } = state.session;
  if (signIn === "link") await request("session", { method: "DELETE" });
  sessionStore.set({ kind: "out", signIn, had: null });
  noteOperator(null);
}
