import { secretStart } from "@latchkey/core";
import { BODY_LENGTH, isSecretBody } from "./secret-body.js";

/** Options of {@link redact}. */
export interface RedactOptions {
  /**
   * Prefixes of keys that were taken over from another system: what follows them, 12 characters or more of
   * `A-Z a-z 0-9 + / = . _ -`, is a secret too. Those of latchkey's own form are found without.
   */
  readonly prefixes?: readonly string[];
}

/** What stands for the rest of a secret. */
const CUT = "…";

/** An escape of JSON before a secret must not be taken for its first character. */
const RUNS = new RegExp(`\\\\[bfnrt]|[1-9A-HJ-NP-Za-km-z]{${BODY_LENGTH.min},}`, "g");

/**
 * Replaces the secrets in a text, such as a line of a log, by the start that lists of keys show of them, and `…`. Every secret of
 * latchkey's own form is found by its shape, also one that fails its checksum: a mistyped secret is almost one.
 *
 * @example
 * redact("key=pay_live_ZUUaq9NgA2QyuEqiaE7LS7SXY9juh"); // "key=pay_live_ZUUa…"
 */
export function redact(text: string, { prefixes = [] }: RedactOptions = {}): string {
  const known = text.replace(RUNS, (run) =>
    isSecretBody(run) ? `${secretStart(run)}${CUT}` : run,
  );
  return prefixes.reduce(
    (line, prefix) => line.replace(ofPrefix(prefix), (_, start: string) => `${start}${CUT}`),
    known,
  );
}

/** A secret of any form behind a prefix. What is redacted already has too few characters before its `…`. */
function ofPrefix(prefix: string): RegExp {
  const escaped = prefix.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  return new RegExp(`(${escaped}_?)[A-Za-z0-9+/=._-]{12,}`, "g");
}
