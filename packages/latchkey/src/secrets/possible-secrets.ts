import { ofPrefix, secretBodies } from "./redact.js";

/** The prefix before the last `_` of a secret. */
const PREFIX = /[A-Za-z0-9_-]{1,16}$/;
const MAX_PREFIX = 16;

/** Characters that may end a secret, as in base64, or the sentence that contains it. */
const SIGNS = ".=_-";

/**
 * Every text in a line that may be a secret: those in latchkey's own format, with each possible prefix (the checksum shows the
 * right one), and those of other formats after one of `prefixes`.
 */
export function possibleSecrets(line: string, prefixes: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const { at, body } of secretBodies(line)) {
    found.push(body);
    if (line.charAt(at - 1) !== "_") continue;
    // No more of the line than a prefix can have, because it may contain many secrets.
    const [before = ""] = PREFIX.exec(line.slice(Math.max(0, at - 1 - MAX_PREFIX), at - 1)) ?? [];
    for (let from = 0; from < before.length; from += 1) found.push(`${before.slice(from)}_${body}`);
  }
  for (const prefix of prefixes)
    for (const [secret] of line.matchAll(ofPrefix(prefix)))
      found.push(secret, withoutSigns(secret));
  return found;
}

function withoutSigns(text: string): string {
  let end = text.length;
  while (end > 0 && SIGNS.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
