import type { Authenticate } from "@latchkey/http";

/** One thing that was looked at in a store. */
export interface Finding {
  readonly check: string;
  /** `wrong`: somebody has to do something. `mended`: it was wrong. */
  readonly state: "fine" | "wrong" | "mended";
  /** In words. */
  readonly found: string;
}

/** Events that receivers did not take, as `createWebhooks` of @latchkey/webhooks lists them and sends them again. */
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
   * Who an operator is, by your own sign-in: `{ workspaceId, permissions, actor? }`, or null for nobody. Without it the page asks for
   * a root key, and keeps it in the memory of the page alone.
   */
  readonly authenticate?: Authenticate;
  /** What precedes the console in the URLs that arrive here, such as `/console`. Default: empty. */
  readonly basePath?: string;
  /** The values of the `Host` header that are answered, such as `127.0.0.1:4000`. Default: all. */
  readonly hosts?: readonly string[];
  /**
   * Whether operators can manage root keys, each as far as its permissions allow, such as `root.*.create_root_key`. Default: false,
   * since a root key that leaks could then make others that outlive it.
   */
  readonly rootKeys?: boolean;
  /** Looks at the store for operators who hold `*`, as `latchkey doctor` does. Default: none. */
  readonly examine?: () => AsyncIterable<Finding>;
  /**
   * What `createWebhooks` returned for this latchkey: operators of its workspace who hold `*` see the events that receivers did not
   * take, and can send them again. Default: none.
   */
  readonly webhooks?: DeadLetterBox;
  /** Is called with every error that the page sees only as 500 or 503. Anything it throws is ignored. */
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

/** Checks what createHandler does not check. @throws TypeError naming the option that is wrong. */
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
    throw new TypeError('"webhooks" must be what createWebhooks of @latchkey/webhooks returns');
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
