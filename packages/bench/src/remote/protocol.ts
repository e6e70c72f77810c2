import type { Ownership } from "../fixture/fill.js";
import type { StoreKind, StoreLocation } from "../fixture/stores.js";

/** What another process is to open, once. */
export interface Opening {
  readonly kind: StoreKind;
  readonly location: StoreLocation;
  /** Of the store. */
  readonly name: string;
  readonly side: "latchkey" | "limit";
  readonly questionId: string;
  /**
   * `file`: a JSON file with rows, whose keys are in the store already, except in memory, where they are made.
   * `keyCount`: the process makes so many, and knows the secrets of `known`; of the side latchkey only.
   */
  readonly keys:
    | { readonly file: string }
    | { readonly keyCount: number; readonly known: number; readonly ownership?: Ownership };
  /** Whether the log of changes is kept. */
  readonly auditLog: boolean;
  /** How long leases are; none unless given. */
  readonly leaseMs?: number;
  /** In which order secrets are asked about: one after the other unless given. */
  readonly order?: "zipf";
}

/** What it answers then. `bytes`: what a fill took, in the store; null where nothing was filled. */
export interface Opened {
  readonly bytes: number | null;
}

/** Some calls of one operation. */
export interface Calls {
  /**
   * `verify`: of the known secrets in turn, beginning with `from`. `page`: the next 100 keys; `skip`: the same, the first call from
   * the beginning of the list. `create`: one key; `import`: a hundred of them; `delete`: a key whose secret is known, which no later
   * call may verify. `identity`: one by its externalId; `identities`: the next 100 of them; `owned`: the next 100 keys of one.
   * `deleteApi`: the API with all of its keys.
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
  /** Whether the event loop turns after each call, as it does in a server; else nothing waits but the calls themselves. */
  readonly isTurning?: boolean;
}

/** What they came to. */
export interface CallsDone {
  readonly elapsedMs: number;
  /** Verdicts that were the right one, and those that were another. */
  readonly right: number;
  readonly other: number;
  /** Longest time for which the event loop did not turn. */
  readonly blockedMs: number;
}

/** From the parent. */
export type Request =
  | { readonly kind: "open"; readonly opening: Opening }
  | { readonly kind: "calls"; readonly calls: Calls }
  /** Gives back what it holds. */
  | { readonly kind: "close" };

/** From the process. */
export type Reply =
  | { readonly kind: "opened"; readonly opened: Opened }
  | { readonly kind: "done"; readonly done: CallsDone }
  | { readonly kind: "closed" };
