import type { Authenticate } from "@latchkey/http";

/** Result of one check of a store. */
export interface Finding {
  readonly check: string;
  /** `wrong`: it needs attention. `mended`: it was wrong, and is repaired. */
  readonly state: "fine" | "wrong" | "mended";
  /** In words. */
  readonly found: string;
}

/** Dead letters of webhooks, as `createWebhooks` of @latchkey/webhooks lists and redelivers them. */
export interface DeadLetterBox {
  listDeadLetters(input: {
    readonly limit?: number | undefined;
    readonly cursor?: string | undefined;
  }): Promise<unknown>;
  redeliver(input: { readonly deadLetterId: string }): Promise<unknown>;
}

/** Options of `createConsole`. */
export interface ConsoleOptions {
  /**
   * Returns the operator of a request, by your own sign-in: `{ workspaceId, permissions, actor? }`, or null if nobody is signed in. Without
   * it, the page asks for a root key, and keeps it only in its memory.
   */
  readonly authenticate?: Authenticate;
  /** Path of the console in the URLs of incoming requests, such as `/console`. Default: empty. */
  readonly basePath?: string;
  /** Accepted values of the `Host` header, such as `127.0.0.1:4000`. Default: all. */
  readonly hosts?: readonly string[];
  /**
   * Whether operators can manage root keys, as far as their permissions allow, such as `root.*.create_root_key`. Default: false, because a
   * leaked root key could then create others that outlive it.
   */
  readonly rootKeys?: boolean;
  /**
   * Checks the store, as `latchkey doctor` does, for operators of this latchkey's workspace with the permission `*`: the findings are of all
   * workspaces. Default: none.
   */
  readonly examine?: () => AsyncIterable<Finding>;
  /**
   * Result of `createWebhooks` for this latchkey: operators of its workspace with the permission `*` can see dead letters and send them
   * again. Default: none.
   */
  readonly webhooks?: DeadLetterBox;
  /** Called with every error behind a 500 or 503. Errors that it throws are ignored. Default: `console.error`. */
  readonly onError?: (error: unknown, requestId: string) => void;
}

const KNOWN: ReadonlySet<string> = new Set<keyof ConsoleOptions>([
  "authenticate",
  "basePath",
  "hosts",
  "rootKeys",
  "examine",
  "webhooks",
  "onError",
]);

/** Checks what createHandler does not check. @throws TypeError naming the wrong option. */
export function checkOptions(options: ConsoleOptions): void {
  if (typeof options !== "object" || options === null)
    throw new TypeError('"options" must be an object');
  const unknown = Object.keys(options).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not an option of createConsole`);
  const { authenticate, hosts, rootKeys = false, examine, webhooks } = options;
  if (authenticate !== undefined && typeof authenticate !== "function")
    throw new TypeError('"authenticate" must be a function');
  if (hosts !== undefined && !isTexts(hosts))
    throw new TypeError('"hosts" must be a list such as ["127.0.0.1:4000"]');
  if (typeof rootKeys !== "boolean") throw new TypeError('"rootKeys" must be true or false');
  if (examine !== undefined && typeof examine !== "function")
    throw new TypeError('"examine" must be a function');
  if (webhooks !== undefined && typeof webhooks?.listDeadLetters !== "function")
    throw new TypeError(
      '"webhooks" must be the object that createWebhooks of @latchkey/webhooks returns',
    );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
