import type { Ownership } from "../fixture/fill.js";
import type { StoreKind, StoreLocation } from "../fixture/stores.js";

/** The side that another process opens, once. */
export interface Opening {
  readonly kind: StoreKind;
  readonly location: StoreLocation;
  /** Name of the store. */
  readonly name: string;
  readonly side: "latchkey" | "limit";
  readonly questionId: string;
  /**
   * `file`: a JSON file of rows. Their keys are in the store already; in memory, the process creates them. `keyCount`: the process creates
   * this many keys, and knows the secrets of `known` of them; only for the side latchkey.
   */
  readonly keys:
    | { readonly file: string }
    | { readonly keyCount: number; readonly known: number; readonly ownership?: Ownership };
  /** Whether to keep the audit log. */
  readonly auditLog: boolean;
  /** Lease time in ms; default: no leases. */
  readonly leaseMs?: number;
  /** Order in which secrets are asked about; default: one after the other. */
  readonly order?: "zipf";
}

/** The reply to an opening. `bytes`: growth of the store by the keys created; null: none were created. */
export interface Opened {
  readonly bytes: number | null;
}

/** Some calls of one operation. */
export interface Calls {
  /**
   * `verify`: the known secrets in turn, beginning with `from`. `page`: the next 100 keys; `skip`: the same, but the first call starts at
   * the beginning of the list. `create`: one key; `import`: a hundred keys; `delete`: a key with a known secret, which no later call may
   * verify. `identity`: an identity by its externalId; `identities`: the next 100 identities; `owned`: the next 100 keys of one identity.
   * `deleteApi`: the API with all its keys.
   */
  readonly operation:
    | "verify"
    | "page"
    | "skip"
    | "create"
    | "import"
    | "delete"
    | "identity"
    | "identities"
    | "owned"
    | "deleteApi";
  readonly from: number;
  readonly calls: number;
  readonly inFlight: number;
  /** Whether the event loop turns after each call, as in a server; default: false. */
  readonly isTurning?: boolean;
}

/** The result of some calls. */
export interface CallsDone {
  readonly elapsedMs: number;
  /** Numbers of expected and of unexpected verdicts. */
  readonly right: number;
  readonly other: number;
  /** Longest time during which the event loop did not turn. */
  readonly blockedMs: number;
}

/** A message from the parent. */
export type Request =
  | { readonly kind: "open"; readonly opening: Opening }
  | { readonly kind: "calls"; readonly calls: Calls }
  /** Closes the side, which gives back its leases. */
  | { readonly kind: "close" };

/** A message from the process. */
export type Reply =
  | { readonly kind: "opened"; readonly opened: Opened }
  | { readonly kind: "done"; readonly done: CallsDone }
  | { readonly kind: "closed" };
