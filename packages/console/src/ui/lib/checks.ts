import type { Check, Verdict } from "./types.js";
import { exactly, figure, queryText } from "./words.js";

/** The HTTP status that @latchkey/guard answers with, unless the host has set another. */
export const STATUSES: Readonly<Record<string, number>> = {
  NOT_FOUND: 401,
  DISABLED: 401,
  EXPIRED: 401,
  NOT_STARTED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_PERMISSIONS: 403,
  RATE_LIMITED: 429,
  USAGE_EXCEEDED: 429,
};

/** The names of checks, for people. */
const NAMES: Readonly<Record<string, string>> = {
  exists: "Exists",
  enabled: "Enabled",
  api: "API",
  start: "Started",
  expiry: "Not expired",
  idle: "Used recently",
  environment: "Environment",
  address: "Address",
  permissions: "Permissions",
  ratelimit: "Rate limit",
  uses: "Uses left",
};

export const checkName = ({ check, name }: Check): string =>
  check === "ratelimit" ? `Rate limit ${name ?? ""}` : (NAMES[check] ?? check);

/** The result of a check in words. `written` formats instants. */
export function seen(check: Check, now: number, written: (at: number) => string = exactly): string {
  switch (check.check) {
    case "exists":
      return check.passed ? "The key is in the store" : "No key in this workspace has this secret";
    case "enabled":
      return check.passed ? "The key is enabled" : "The key is disabled";
    case "api":
      return check.wanted === undefined
        ? "No API was specified"
        : `Requested ${check.wanted}; the key belongs to ${check.apiId}`;
    case "expiry":
      if (check.expires === undefined) return "Never expires";
      return `${check.expires > now ? "Expires" : "Expired"} ${written(check.expires)}`;
    case "idle":
      return check.passed
        ? `Expires ${written(check.idleExpiresAt ?? now)} unless it is used`
        : `Unused for too long; expired ${written(check.idleExpiresAt ?? now)}`;
    case "start":
      return `${check.passed ? "Valid since" : "Valid from"} ${written(check.startsAt ?? now)}`;
    case "environment":
      return check.passed
        ? `Requested ${check.wanted}`
        : `Requested ${check.wanted}; the key has ${check.environment ?? "none"}`;
    case "address":
      if (check.passed) return check.ipAddress ?? "No allow-list";
      return check.ipAddress === undefined
        ? "The key has an allow-list, and no address was given"
        : `${check.ipAddress} is not in the allow-list`;
    case "permissions":
      return check.missing === undefined
        ? "No required permission is missing"
        : `Missing: ${queryText(check.missing)}`;
    case "ratelimit": {
      // The instant at which it passes, or is full again, is shown next to it.
      const { cost = 1, remaining = 0, limit = 0, burst = limit } = check;
      const shadow = check.exceeded === true ? "; a shadow limit refuses nothing" : "";
      return `${figure(remaining)} of ${figure(burst)} left; this request takes ${figure(cost)}${shadow}`;
    }
    case "uses": {
      if (check.remaining === undefined) return "Unlimited";
      const refill =
        check.nextRefillAt === undefined ? "" : `; next refill ${written(check.nextRefillAt)}`;
      const of = check.from === "identity" ? ", shared by the owner’s keys" : "";
      return `${figure(check.remaining)} left${of}; this request takes ${figure(check.cost ?? 1)}${refill}`;
    }
    default:
      return check.passed ? "" : "Refuses";
  }
}

/** The instant at which a check passes if nothing else happens; null if waiting does not help. */
export function passesAt(check: Check, now: number): number | null {
  if (check.startsAt !== undefined && check.startsAt > now) return check.startsAt;
  if (check.retryAfterMs === undefined) return null;
  if (check.check === "uses") return check.nextRefillAt ?? null;
  return check.algorithm === undefined ? (check.reset ?? null) : now + check.retryAfterMs;
}

/** The instant at which the key would pass if nothing else happens; null if waiting does not help. */
export function wouldPassAt(checks: readonly Check[], now: number): number | null {
  const instants = checks.filter(({ passed }) => !passed).map((check) => passesAt(check, now));
  if (instants.length === 0 || instants.includes(null)) return null;
  return Math.max(...(instants as number[]));
}

/** What refused a request, for people. */
export const refusalText = (code: string): string =>
  (VERDICTS[code]?.title ?? code).replace("Refused: ", "");

/** The meaning of a verdict, with advice. */
export function meaningOf({ code, checks = [] }: Verdict): Meaning {
  const refusing = checks.filter(({ passed }) => !passed);
  if (code === "FORBIDDEN" && refusing.length > 0 && refusing.every(isWithoutAddress))
    return ADDRESS_UNKNOWN;
  const elsewhere = refusing.find((one) => one.check in ELSEWHERE && !isWithoutAddress(one));
  if (code === "FORBIDDEN" && elsewhere !== undefined) return ELSEWHERE[elsewhere.check] as Meaning;
  const { title, way } = VERDICTS[code] ?? { title: code, way: "" };
  const uses = refusing.find(({ check }) => check === "uses");
  if (code !== "USAGE_EXCEEDED" || uses === undefined) return { title, way };
  return {
    title: uses.remaining === 0 ? title : "Refused: not enough uses left",
    way: uses.nextRefillAt === undefined ? way : "Add uses, or wait for the next refill.",
  };
}

interface Meaning {
  readonly title: string;
  readonly way: string;
  /** Default: the tone of the verdict. */
  readonly tone?: "warn";
}

const isWithoutAddress = ({ check, ipAddress }: Check) =>
  check === "address" && ipAddress === undefined;

/** The meaning if the key has an allow-list and no address was given. */
const ADDRESS_UNKNOWN: Meaning = {
  title: "It depends on the address",
  tone: "warn",
  way: "The key works only from certain addresses, and no address was given here. Test a request with the address of the caller.",
};

/** Meanings for a key that may not be used there, by check. */
const ELSEWHERE: Readonly<Record<string, Meaning>> = {
  api: {
    title: "Refused: wrong API",
    way: "The key belongs to a different API than the one requested.",
  },
  address: {
    title: "Refused: wrong address",
    way: "The caller’s address is not in its allow-list. Add it to the list, or call from an allowed address.",
  },
  environment: {
    title: "Refused: wrong environment",
    way: "The key belongs to a different environment than the one requested.",
  },
};

const VERDICTS: Readonly<Record<string, Meaning>> = {
  VALID: {
    title: "Valid",
    way: "A verification would accept it now, unless it requires a permission that the key does not have.",
  },
  NOT_FOUND: {
    title: "No such key",
    way: "No key in this workspace matches exactly: it was copied incorrectly, was deleted, or belongs to another workspace.",
  },
  DISABLED: {
    title: "Refused: disabled",
    way: "Every request with it is refused until it is enabled.",
  },
  EXPIRED: { title: "Refused: expired", way: "Give it a later expiry, or create another key." },
  NOT_STARTED: { title: "Refused: not valid yet", way: "It becomes valid at its start time." },
  FORBIDDEN: {
    title: "Refused: not allowed here",
    way: "The key does not allow the API, address or environment of the request.",
  },
  INSUFFICIENT_PERMISSIONS: {
    title: "Refused: missing permissions",
    way: "Give the key the missing permissions, directly or through a role.",
  },
  RATE_LIMITED: {
    title: "Refused: rate limit reached",
    way: "It passes once the limit has room again.",
  },
  USAGE_EXCEEDED: {
    title: "Refused: no uses left",
    way: "Add uses.",
  },
};
