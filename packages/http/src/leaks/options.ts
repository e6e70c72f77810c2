import type { KeyObject } from "node:crypto";
import { type KeyView, LEAK_POLICIES, type LeakPolicy } from "@latchkey/core";
import { printError } from "../routing/respond-to-error.js";
import { readPublicKey } from "./signature.js";

/** What to do with leaked keys: one policy for all, or a function that returns one for each key. */
export type LeakPolicyOption = LeakPolicy | ((key: KeyView) => LeakPolicy | Promise<LeakPolicy>);

/** The public keys of a code host, in PEM: by id, or a function that finds one; null for an unknown id. */
export type LeakPublicKeys =
  | Readonly<Record<string, string>>
  | ((id: string) => Promise<string | null> | string | null);

/** Options of `createLeakHandler`. */
export interface LeakHandlerOptions {
  /** Public keys that reports are signed with: ECDSA on P-256. A function may take 5 seconds. */
  readonly publicKeys: LeakPublicKeys;
  /**
   * What to do with a leaked key. Default: `disable`. `report` changes nothing, `delete` deletes it, `rotate` gives a recoverable key a
   * successor and disables others. If a function throws, takes longer than 5 seconds or returns anything else, the key is disabled, and
   * `onError` is called.
   */
  readonly policy?: LeakPolicyOption;
  /**
   * Called with every error behind a 500 or 503, and with those of `policy`. Errors that it throws are ignored. Default: `console.error`.
   */
  readonly onError?: (error: unknown, requestId: string) => void;
}

/** The options, checked. */
export interface LeakSettings {
  /** @throws Any error of the host's function; TypeError for an invalid public key. */
  readonly findPublicKey: (id: string) => Promise<KeyObject | null>;
  readonly policy: LeakPolicyOption;
  readonly onError: (error: unknown, requestId: string) => void;
}

const KNOWN: ReadonlySet<string> = new Set<keyof LeakHandlerOptions>([
  "publicKeys",
  "policy",
  "onError",
]);

/** Checks the options and fills in the defaults. @throws TypeError naming the wrong option and its bound. */
export function leakSettingsOf(options: LeakHandlerOptions): LeakSettings {
  if (typeof options !== "object" || options === null)
    throw new TypeError('"options" must be an object');
  const unknown = Object.keys(options).find((name) => !KNOWN.has(name));
  if (unknown !== undefined)
    throw new TypeError(`"${unknown}" is not an option of createLeakHandler`);
  const { publicKeys, policy = "disable", onError = printError } = options;
  if (typeof policy !== "function" && !isLeakPolicy(policy))
    throw new TypeError(`"policy" must be a function, or one of ${LEAK_POLICIES.join(", ")}`);
  if (typeof onError !== "function") throw new TypeError('"onError" must be a function');
  return { findPublicKey: finderOf(publicKeys), policy, onError };
}

/** Whether a value is a policy. */
export function isLeakPolicy(value: unknown): value is LeakPolicy {
  return LEAK_POLICIES.some((policy) => policy === value);
}

function finderOf(publicKeys: LeakPublicKeys): LeakSettings["findPublicKey"] {
  if (typeof publicKeys === "function")
    return async (id) => {
      const pem: unknown = await publicKeys(id);
      if (pem === null) return null;
      return readPublicKey(pem, "the result of publicKeys");
    };
  if (typeof publicKeys !== "object" || publicKeys === null)
    throw new TypeError('"publicKeys" must be an object of PEM texts by id, or a function');
  const keys = new Map(
    Object.entries(publicKeys).map(([id, pem]) => [id, readPublicKey(pem, `"publicKeys.${id}"`)]),
  );
  return async (id) => keys.get(id) ?? null;
}
