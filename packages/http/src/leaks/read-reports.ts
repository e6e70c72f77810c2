import { type InputIssue, LatchkeyError } from "@latchkey/core";
import { parseJsonArray } from "../request/json.js";

/** A secret that a code host has found. */
export interface FoundToken {
  readonly token: string;
  readonly type: string;
  readonly url?: string;
  readonly source?: string;
}

/** Maximum tokens of a report. */
const MAX_TOKENS = 10_000;

/** Maximum issues that are listed. */
const MAX_ISSUES = 100;

/** Members of a token: all are texts, `true` means required. Other members are ignored. */
const MEMBERS = { token: true, type: true, url: false, source: false } as const;

/**
 * Reads the body of a report.
 *
 * @throws LatchkeyError `BAD_REQUEST`, `PAYLOAD_TOO_LARGE` for more than {@link MAX_TOKENS}.
 */
export function readReports(bytes: Uint8Array): readonly FoundToken[] {
  const items = parseJsonArray(bytes);
  if (items.length > MAX_TOKENS)
    throw new LatchkeyError("PAYLOAD_TOO_LARGE", `the body must list at most ${MAX_TOKENS} tokens`);
  const issues: InputIssue[] = [];
  for (const [at, item] of items.entries()) {
    if (issues.length >= MAX_ISSUES) break;
    issues.push(...issuesOf(item, at));
  }
  if (issues.length > 0)
    throw new LatchkeyError("BAD_REQUEST", "the body must list tokens", { issues });
  return items as readonly FoundToken[];
}

function issuesOf(item: unknown, at: number): readonly InputIssue[] {
  if (typeof item !== "object" || item === null || Array.isArray(item))
    return [{ path: `${at}`, message: "must be an object" }];
  const members = item as Readonly<Record<string, unknown>>;
  return Object.entries(MEMBERS)
    .filter(([name, isRequired]) => {
      const value = Object.hasOwn(members, name) ? members[name] : undefined;
      return typeof value !== "string" && (isRequired || (value ?? null) !== null);
    })
    .map(([name]) => ({ path: `${at}.${name}`, message: "must be a string" }));
}
