import { hash as digest } from "node:crypto";
import type { KeyRow } from "../fixture/rows.js";
import { type ChargedLimit, chargedLimits, type Question } from "../questions.js";
import { isGranted, isInRange, missingOf, onlyPermission, rangeOf } from "./grants.js";
import type { Verify } from "./side.js";
import {
  type LimitVerdict,
  limitVerdict,
  NOT_FOUND,
  type ShownLimit,
  shownLimit,
  unpermitted,
  type VerdictKey,
  verdictKey,
} from "./verdict.js";

const REMEMBER_MS = 600_000;
const NO_LIMITS: readonly ShownLimit[] = [];

/** The count of one rate limit. */
interface Window {
  startedAt: number;
  used: number;
}

interface Row {
  readonly enabled: boolean;
  readonly granted: ReadonlySet<string>;
  readonly shown: VerdictKey;
  /** One for each limit that the question takes from. Keys of an identity share its windows. */
  readonly windows: readonly Window[];
  remaining: number | null;
}

/** The hand-written limit in memory: a map from the hash of a secret to its row, and one function that checks, takes and answers. */
export function memoryLimit(rows: readonly KeyRow[], question: Question): Verify {
  const { anyOf, address, cost, hasRequestId, keys } = question;
  const limits = chargedLimits(question);
  const range = rangeOf(keys.addresses);
  const only = onlyPermission(anyOf);
  const isCounted = keys.remaining !== null || limits.length > 0;
  const table = tableOf(rows, limits);
  const remembered = new Map<string, { readonly verdict: LimitVerdict; readonly until: number }>();

  async function verify(secret: string, requestId: string) {
    const row = table.get(digest("sha256", secret, "base64url"));
    if (row === undefined) return NOT_FOUND;
    const now = Date.now();
    const { shown } = row;
    if (!row.enabled) return refuse(row, "DISABLED", false, now);
    if (shown.expires !== null && now >= shown.expires) return refuse(row, "EXPIRED", false, now);
    if (!isInRange(range, address)) return refuse(row, "FORBIDDEN", true, now);
    const isPermitted = only === null ? isGranted(row.granted, anyOf) : row.granted.has(only);
    if (!isPermitted)
      return unpermitted(shown, row.remaining, missingOf(row.granted, anyOf ?? []), now);
    if (!isCounted) return limitVerdict(shown, "VALID", true, null, NO_LIMITS, now);
    const request = hasRequestId ? `${shown.keyId} ${requestId}` : null;
    if (request !== null) {
      const known = remembered.get(request);
      if (known !== undefined && now < known.until) return known.verdict;
    }
    const verdict = take(row, now);
    if (request !== null) remember(request, verdict, now);
    return verdict;
  }

  function take(row: Row, now: number): LimitVerdict {
    const { shown, windows, remaining } = row;
    let isLimited = false;
    for (let index = 0; index < limits.length; index += 1) {
      const window = windows[index] as Window;
      const { shape, cost: taken } = limits[index] as ChargedLimit;
      const startedAt = now - (now % shape.duration);
      if (window.startedAt !== startedAt) {
        window.startedAt = startedAt;
        window.used = 0;
      }
      if (window.used + taken > shape.limit) isLimited = true;
    }
    if (isLimited)
      return limitVerdict(shown, "RATE_LIMITED", true, remaining, look(row, true), now);
    if (remaining !== null && remaining < cost)
      return limitVerdict(shown, "USAGE_EXCEEDED", remaining > 0, remaining, look(row, true), now);
    for (let index = 0; index < limits.length; index += 1)
      (windows[index] as Window).used += (limits[index] as ChargedLimit).cost;
    if (remaining !== null) row.remaining = remaining - cost;
    return limitVerdict(shown, "VALID", true, row.remaining, look(row, false), now);
  }

  function look({ windows }: Row, isRefused: boolean): ShownLimit[] {
    const shown: ShownLimit[] = [];
    for (let index = 0; index < limits.length; index += 1) {
      const limit = limits[index] as ChargedLimit;
      const { used, startedAt } = windows[index] as Window;
      const isExceeded = isRefused && used + limit.cost > limit.shape.limit;
      shown.push(shownLimit(limit, used, startedAt, isExceeded));
    }
    return shown;
  }

  function remember(request: string, verdict: LimitVerdict, now: number): void {
    remembered.set(request, { verdict, until: now + REMEMBER_MS });
    // All entries live equally long, so the oldest expires first.
    for (const [oldest, { until }] of remembered) {
      if (now < until) return;
      remembered.delete(oldest);
    }
  }

  return verify;
}

function refuse(
  { shown, remaining }: Row,
  code: string,
  enabled: boolean,
  now: number,
): LimitVerdict {
  return limitVerdict(shown, code, enabled, remaining, NO_LIMITS, now);
}

function tableOf(rows: readonly KeyRow[], limits: readonly ChargedLimit[]): Map<string, Row> {
  const table = new Map<string, Row>();
  const shared = new Map<string, Window>();
  for (const row of rows) {
    if (!row.shape.isKnown) continue;
    const windows = limits.map(({ owner, shape }) => {
      if (owner === "key") return { startedAt: 0, used: 0 };
      const name = `${row.identity?.id} ${shape.name}`;
      const window = shared.get(name) ?? { startedAt: 0, used: 0 };
      shared.set(name, window);
      return window;
    });
    table.set(digest("sha256", row.secret, "base64url"), {
      enabled: row.shape.enabled,
      granted: new Set(row.shape.permissions),
      shown: verdictKey(row),
      windows,
      remaining: row.shape.remaining,
    });
  }
  return table;
}
