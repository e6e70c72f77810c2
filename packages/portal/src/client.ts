/** What a customer's session allows, and how the page looks. */
export interface PortalState {
  /** Null if nobody is signed in. */
  readonly session: {
    /** Your own id of the customer. */
    readonly externalId: string;
    /** Unix epoch ms. */
    readonly expires: number;
    readonly allow: {
      readonly create: boolean;
      readonly rotate: boolean;
      readonly revoke: boolean;
      readonly permissions: readonly string[];
      readonly maxKeys?: number;
      readonly apis: readonly { readonly id: string; readonly name: string }[];
    };
  } | null;
  /** How a session starts: with the host's own sign-in, or with a link. */
  readonly signIn: "host" | "link";
  /** Where a customer signs in, if the host says so. */
  readonly signInUrl?: string;
  /** The server's clock: Unix epoch ms. */
  readonly now: number;
  readonly language: string;
  readonly texts: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
}

/** A key of the customer. Times are Unix epoch ms; fields without a value are absent. */
export interface PortalKey {
  readonly id: string;
  /** Start of the secret. */
  readonly start: string;
  readonly apiId: string;
  readonly name?: string;
  readonly createdAt: number;
  readonly lastUsedAt?: number;
  readonly expires?: number;
  /** When it expires unless it is used before. */
  readonly idleExpiresAt?: number;
  readonly startsAt?: number;
  /** Uses left. */
  readonly remaining?: number;
  readonly enabled: boolean;
  readonly permissions: readonly string[];
  readonly rotatedFrom?: string;
  readonly rotatedTo?: string;
  /** Whether it can be rotated here. */
  readonly canRotate: boolean;
}

/** A new key with its secret, which is sent only once. */
export interface PortalSecret {
  readonly keyId: string;
  /** Absent if the answer to the first call was lost and the call was repeated: the key exists, but its secret is lost. */
  readonly key?: string;
}

/** Verifications of one UTC day. */
export interface PortalUsage {
  /** Start of the day: Unix epoch ms. */
  readonly time: number;
  readonly success: number;
  readonly rateLimited: number;
  readonly usageExceeded: number;
  /** Counts by verdict, such as `VALID` and `RATE_LIMITED`. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/**
 * The portal's functions, for a page of your own. A call without an answer can be repeated: the same call creates nothing twice. Calls
 * reject with a {@link PortalError}, or a TypeError for a path outside of a browser.
 */
export interface PortalClient {
  /** Returns who is signed in, if anybody. */
  session(): Promise<PortalState>;
  /** Starts a session: with the host's sign-in, or with the secret of a session. */
  start(secret?: string): Promise<PortalState>;
  /** Ends the session. */
  end(): Promise<PortalState>;
  /** A page of keys, in the order of their creation. */
  listKeys(input?: {
    readonly apiId?: string;
    readonly limit?: number;
    readonly cursor?: string;
  }): Promise<{ readonly keys: readonly PortalKey[]; readonly cursor?: string }>;
  /** Creates a key. Without `permissions`, it gets all permissions that the session allows. */
  createKey(input: {
    readonly apiId?: string;
    readonly name?: string;
    readonly expires?: number;
    readonly permissions?: readonly string[];
  }): Promise<PortalSecret>;
  renameKey(input: { readonly keyId: string; readonly name: string }): Promise<void>;
  /** Replaces a key with one that has a new secret. The old key works for another `graceMs`, at most 7 days. */
  rotateKey(input: {
    readonly keyId: string;
    readonly graceMs?: number | string;
  }): Promise<PortalSecret>;
  /** Deletes a key for good. */
  revokeKey(input: { readonly keyId: string }): Promise<void>;
  /** How often a key was used on each of the last days, including today. Default: 30 days. */
  usage(input: { readonly keyId: string; readonly days?: number }): Promise<readonly PortalUsage[]>;
}

/** A call that was refused or failed. */
export class PortalError extends Error {
  override readonly name = "PortalError";
  /** Status of the response; 0 if there was none. */
  readonly status: number;
  /** `UNAUTHORIZED`: the session has ended. `OFFLINE`: there was no response. Otherwise a code of latchkey. */
  readonly code: string;
  /** Why, if a code has several causes: `above-ceiling`, `key-expired` … */
  readonly reason: string | undefined;
  /** Figures behind the reason: the field, and its bound. */
  readonly details: { readonly field?: string; readonly limit?: unknown };
  /** With `STORE_UNAVAILABLE`: `not-applied` if nothing was changed, else `unknown`. */
  readonly outcome: "not-applied" | "unknown" | undefined;
  /** The wrong fields. */
  readonly issues: readonly { readonly path: string; readonly message: string }[];

  constructor(status: number, error: Partial<Omit<PortalError, "status">>) {
    super(error.message ?? `the server answered ${status}`);
    this.status = status;
    this.code = error.code ?? "UNKNOWN";
    this.reason = error.reason;
    this.details = error.details ?? {};
    this.outcome = error.outcome;
    this.issues = error.issues ?? [];
  }
}

/**
 * Creates a client of a portal on the same origin, for a page of your own. It keeps no secret: the session is a cookie that scripts cannot
 * read.
 *
 * @param url - Where the portal is mounted, such as `/account/keys/`; absolute outside of a browser.
 * @param options - `fetch`: replaces the global one. Outside of a browser, it must keep the cookie.
 * @example
 * const portal = createPortalClient("/account/keys/");
 * await portal.start();
 * const { keys } = await portal.listKeys();
 */
export function createPortalClient(
  url: string | URL,
  options: { readonly fetch?: typeof globalThis.fetch } = {},
): PortalClient {
  const base = `${url}`.replace(/\/{0,10}$/, "/");
  const isNowhere = () =>
    options.fetch === undefined && !("location" in globalThis) && !/^https?:/i.test(base);

  /** The customer of the last session request. All later calls are meant for this customer only. */
  let customer: string | undefined;

  async function ask(
    method: "GET" | "POST" | "DELETE",
    headers?: Readonly<Record<string, string>>,
  ): Promise<PortalState> {
    const state = await send<PortalState>(method, "session", {}, headers);
    customer = state.session?.externalId;
    return state;
  }

  /** Idempotency keys of calls without an answer, by path and input. */
  const unanswered = new Map<string, string>();

  /** Creates a key. After a lost answer, a repetition sends the same idempotency key, so that it is not a second write. */
  async function create(name: string, input: object): Promise<PortalSecret> {
    const asked = JSON.stringify([name, input]);
    // Not `randomUUID`, which is missing on a page without TLS.
    const idempotencyKey =
      unanswered.get(asked) ?? crypto.getRandomValues(new Uint32Array(4)).join("-");
    unanswered.set(asked, idempotencyKey);
    try {
      const created = await send<PortalSecret>("POST", name, { ...input, idempotencyKey });
      unanswered.delete(asked);
      return created;
    } catch (error) {
      const { status } = error as Partial<PortalError>;
      // After a 401, the outcome of the first call is still unknown.
      if (status !== undefined && status >= 400 && status < 500 && status !== 401)
        unanswered.delete(asked);
      throw error;
    }
  }

  async function send<Answer>(
    method: "GET" | "POST" | "DELETE",
    name: string,
    input: object = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const given = Object.entries(input).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(
      given.map(([field, value]) => [field, `${value}`] as [string, string]),
    );
    const path = base + name + (method === "GET" && given.length > 0 ? `?${query}` : "");
    if (isNowhere())
      throw new TypeError(
        '"url" must be absolute outside of a browser, such as "https://example.com/account/keys/"',
      );
    let response: Response;
    try {
      response = await (options.fetch ?? fetch)(path, {
        method,
        credentials: "same-origin",
        headers: {
          "x-latchkey-portal": "1",
          "content-type": "application/json",
          ...(customer !== undefined && {
            "x-latchkey-portal-customer": encodeURIComponent(customer),
          }),
          ...headers,
        },
        ...(method === "POST" && { body: JSON.stringify(input) }),
      });
    } catch {
      throw new PortalError(0, { code: "OFFLINE", message: "the server does not answer" });
    }
    const body = (await response.json().catch(() => ({}))) as { error?: PortalError };
    if (!response.ok) throw new PortalError(response.status, body.error ?? {});
    return body as Answer;
  }

  return {
    session: () => ask("GET"),
    start: (secret) =>
      ask("POST", secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
    end: () => ask("DELETE"),
    listKeys: (input) => send("GET", "keys.list", input),
    createKey: (input) => create("keys.create", input),
    renameKey: async (input) => void (await send("POST", "keys.rename", input)),
    rotateKey: (input) => create("keys.rotate", input),
    revokeKey: async (input) => {
      await send("POST", "keys.revoke", input);
      // The revoked key may come from a call without an answer. Repeating that call must create a new key.
      unanswered.clear();
    },
    usage: async (input) => {
      const answer = await send<{ verifications: readonly PortalUsage[] }>(
        "GET",
        "keys.usage",
        input,
      );
      return answer.verifications;
    },
  };
}
