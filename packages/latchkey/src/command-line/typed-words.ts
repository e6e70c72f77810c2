import { LatchkeyError } from "@latchkey/core";
import type { Command } from "commander";
import { reworded } from "./failures.js";
import { typedNames } from "./fields.js";

/** The library's advice, by error code or reason, and its form on the command line. */
const WAYS_OUT: Readonly<Record<string, readonly (readonly [theirs: RegExp, ours: string])[]>> = {
  DELETE_PROTECTED: [
    [/set deleteProtection .*/, "run apis update <apiId> --delete-protection off"],
  ],
  "no-vault": [[/$/, ": set LATCHKEY_VAULT_KEY"]],
  "vault-key-missing": [[/$/, ": add it to LATCHKEY_VAULT_KEY"]],
  "pepper-missing": [[/$/, ": add it to LATCHKEY_PEPPER"]],
  "uses-from-identity": [[/change .*/, "run identities update with --remaining and --refill"]],
  "no-uses-left": [
    [/set remaining above 0/, "run keys update <keyId> --remaining <n>"],
    [/set its identity.*/, "run identities update <identityId> --remaining <n>"],
  ],
  deleting: [[/call deleteWorkspace again/, "run workspace delete <id> --confirm <id> again"]],
  taken: [[/externalId/, "external id"]],
  "idempotency-key-reused": [[/idempotencyKey/, "--idempotency-key"]],
};

/** An error of an operation, with advice that can be typed. Any other error unchanged. */
export function inTypedWords(error: unknown): unknown {
  if (!(error instanceof LatchkeyError)) return error;
  const { code, reason, message } = error;
  const ways = WAYS_OUT[reason ?? code] ?? [];
  const typed = ways.reduce((text, [theirs, ours]) => text.replace(theirs, ours), message);
  return typed === message ? error : reworded(error, typed);
}

/**
 * A message about a field, with other fields named as they are typed: `needs --remaining`. An ordinary word counts as a field
 * only after such a word.
 */
export function fieldsAsTyped(message: string, command: Command | null): string {
  if (command === null) return message;
  let text = message;
  for (const [field, typed] of typedNames(command)) {
    const name = /[A-Z]/.test(field) ? `\\b${field}\\b` : `(?<=\\b(?:needs|than|with) )${field}\\b`;
    text = text.replace(new RegExp(`(?<![<-])${name}`, "g"), () => typed);
  }
  return text;
}
