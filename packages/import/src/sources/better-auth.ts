import { isObject } from "../columns.js";
import { idOf, toRow } from "../read-row.js";
import { EARLIEST_MS, readInstant } from "../read-value.js";
import type { ImportRow, RowIssue } from "../row.js";
import type { DatabaseRow } from "./database.js";

const DAY_MS = 86_400_000;

/** Intervals that count as a month. */
const MONTH_DAYS = { fewest: 28, most: 31 };

/**
 * Keys in the table of better-auth's API key plugin. It has the SHA-256 of each secret in base64url.
 *
 * @param now - Unix epoch ms.
 */
export async function* betterAuthSource(
  rows: AsyncIterable<DatabaseRow>,
  now: number,
): AsyncGenerator<ImportRow> {
  let number = 0;
  for await (const columns of rows) {
    number += 1;
    yield betterAuthRow(number, columns, now);
  }
}

/** One row of that table. Columns may also be in snake case. */
export function betterAuthRow(number: number, columns: DatabaseRow, now: number): ImportRow {
  const issues: RowIssue[] = [];
  const notes: RowIssue[] = [];
  const row = withCamelCase(columns);
  const text = (name: string) => textOf(row[name]);
  const instant = (name: string) => instantOf(row[name]);
  const key = text("key");
  const isHash = key !== undefined && /^[\w-]{43}$/.test(key);
  if (!isHash)
    issues.push({
      field: "hash",
      message:
        "is not a SHA-256 hash in base64url: the key was hashed in another way, or not at all (disableKeyHashing)",
    });
  const metadata = objectOf(row.metadata);
  if (metadata === null) issues.push({ field: "meta", message: "must be a JSON object" });
  const permissions = permissionsOf(row.permissions);
  if (permissions === null)
    issues.push({ field: "permissions", message: "must be an object of lists of actions" });
  const fields: Record<string, unknown> = {
    ...(isHash && { hash: { value: key, variant: "sha256_base64url" } }),
    start: startOf(text("start") ?? text("prefix"), notes),
    name: text("name"),
    externalId: text("referenceId") ?? text("userId"),
    api: text("configId"),
    meta: metadata ?? undefined,
    permissions: permissions ?? undefined,
    createdAt: instant("createdAt"),
    expires: instant("expiresAt"),
    enabled: row.enabled === undefined || row.enabled === null ? true : Boolean(row.enabled),
    ...usesOf(row, instant("lastRefillAt") ?? instant("createdAt"), now, notes),
    ratelimit: limitOf(row),
  };
  const given = Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  );
  return { ...toRow(number, given, issues), id: idOf(columns), notes };
}

/** Maximum characters of a secret that are shown. */
const MAX_START = 32;

function startOf(start: string | undefined, notes: RowIssue[]): string | undefined {
  if (start === undefined || start.length <= MAX_START) return start;
  notes.push({ field: "start", message: `was cut to ${MAX_START} characters` });
  return start.slice(0, MAX_START);
}

/** The shortest and the longest interval of a refill here, in ms. */
const INTERVAL = { shortest: 60_000, longest: 2 ** 52 };

/**
 * Uses and refill. better-auth refills when an interval has passed since the last refill; here, a refill is daily, monthly, or
 * counted from the creation of the key. A refill that is already due is given.
 */
function usesOf(row: DatabaseRow, since: unknown, now: number, notes: RowIssue[]) {
  const [remaining, amount, interval] = [row.remaining, row.refillAmount, row.refillInterval].map(
    numberOf,
  );
  if (remaining === undefined) return {};
  if (!amount || !interval) return { remaining };
  const isDue = typeof since === "number" && now - since > interval;
  const uses = { remaining: isDue ? amount : remaining };
  if (interval === DAY_MS) return { ...uses, refill: { interval: "daily", amount } };
  const days = interval / DAY_MS;
  if (days >= MONTH_DAYS.fewest && days <= MONTH_DAYS.most) {
    const refillDay = new Date(typeof since === "number" ? since : now).getUTCDate();
    notes.push({
      field: "refill",
      message: `every ${days} days became monthly, on the day of the last refill`,
    });
    return { ...uses, refill: { interval: "monthly", amount, refillDay } };
  }
  const isWithin = interval >= INTERVAL.shortest && interval <= INTERVAL.longest;
  if (!Number.isInteger(interval) || !isWithin) {
    notes.push({
      field: "refill",
      message: `every ${interval} ms is left out: refills are a minute or more apart here`,
    });
    return uses;
  }
  notes.push({
    field: "refill",
    message: `every ${interval} ms is counted from the creation of the key, and no longer from the last refill`,
  });
  return { ...uses, refill: { interval: { every: interval }, amount } };
}

function limitOf(row: DatabaseRow): unknown {
  const [limit, duration] = [row.rateLimitMax, row.rateLimitTimeWindow].map(numberOf);
  const isOn = row.rateLimitEnabled === undefined || Boolean(row.rateLimitEnabled);
  return isOn && limit !== undefined && duration !== undefined ? { limit, duration } : undefined;
}

/** `{ "files": ["read"] }` becomes `files.read`. Undefined if there is none, null for anything else. */
function permissionsOf(value: unknown): readonly string[] | null | undefined {
  const permissions = objectOf(value);
  if (permissions === null || permissions === undefined) return permissions;
  const names: string[] = [];
  for (const [resource, actions] of Object.entries(permissions)) {
    if (!Array.isArray(actions)) return null;
    for (const action of actions) {
      if (typeof action !== "string") return null;
      names.push(`${resource}.${action}`);
    }
  }
  return names;
}

/** An object as JSON; old versions wrote it as JSON within JSON. Undefined for none, null for anything else. */
function objectOf(value: unknown): Readonly<Record<string, unknown>> | null | undefined {
  let read: unknown = value;
  try {
    for (let depth = 0; depth < 2 && typeof read === "string"; depth += 1)
      read = read === "" ? null : JSON.parse(read);
  } catch {
    return null;
  }
  if (read === null || read === undefined) return undefined;
  return isObject(read) ? read : null;
}

function instantOf(value: unknown): unknown {
  if (value === null || value === undefined || value === "") return undefined;
  const number = numberOf(value);
  // Some adapters store dates in seconds.
  const isSeconds = typeof number === "number" && Math.abs(number) < EARLIEST_MS;
  const read = readInstant(number ?? value, isSeconds ? "s" : "ms");
  return "value" in read ? read.value : value;
}

/** A text; ids may be numbers. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A number; PostgreSQL's large ones arrive as text. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string" && /^\d+$/.test(value)) return Number(value);
  return typeof value === "number" ? value : undefined;
}

function withCamelCase(columns: DatabaseRow): DatabaseRow {
  return Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}
