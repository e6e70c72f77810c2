import { isAddressListed } from "../rules/address.js";
import { idleExpiresAt, isExpired, isStarted } from "../rules/keys/lifecycle.js";
import { isSatisfied, missingPermissions, type PermissionQuery } from "../rules/permission.js";
import type { EpochMs, SpanMs } from "../time.js";
import type { VerifiableKey } from "./loaded-key.js";
import type { VerifyQuestion } from "./question.js";

/** The details that each check of the records found. Fields without a value are absent. */
export interface RecordCheckDetails {
  /** No details. */
  readonly enabled: Record<never, never>;
  /** The API that you require. */
  readonly api: {
    /** The key's own. */
    readonly apiId: string;
    /** The one that you require; absent: any. */
    readonly wanted?: string;
  };
  /** The environment that you require. */
  readonly environment: {
    /** The key's own; absent: it has none. */
    readonly environment?: string;
    /** The one that you require. */
    readonly wanted: string;
  };
  /** When the key expires. */
  readonly expiry: {
    /** Unix epoch ms; absent: never. */
    readonly expires?: EpochMs;
  };
  /** When the key expires unless it is used. */
  readonly idle: {
    /** Unix epoch ms, from the uses that the store knows of. */
    readonly idleExpiresAt: EpochMs;
  };
  /** When the key starts. */
  readonly start: {
    /** Unix epoch ms. */
    readonly startsAt: EpochMs;
    /** Ms until then, a whole number >= 1; absent once it has started. */
    readonly retryAfterMs?: SpanMs;
  };
  /** The allow lists of the API and the key. */
  readonly address: {
    /** The address, normalised. The allow lists are not shown. */
    readonly ipAddress?: string;
  };
  /** The permissions that you require. */
  readonly permissions: {
    /** The unsatisfied part of the query; it tells nothing else about the key. */
    readonly missing?: PermissionQuery;
  };
}

export type RecordCheckName = keyof RecordCheckDetails;

/** A refusal that follows from the records alone, before any counter is looked at. */
export type RecordRefusal =
  | "DISABLED"
  | "FORBIDDEN"
  | "EXPIRED"
  | "NOT_STARTED"
  | "INSUFFICIENT_PERMISSIONS";

/** One check: the verdict if it fails, and what a dry run shows. */
interface CheckOf<Name extends RecordCheckName> {
  readonly name: Name;
  readonly code: RecordRefusal;
  passes(loaded: VerifiableKey, question: VerifyQuestion, now: EpochMs): boolean;
  /** Null if there is nothing to check: the key has no such setting, or the request does not require it. */
  details(
    loaded: VerifiableKey,
    question: VerifyQuestion,
    now: EpochMs,
  ): RecordCheckDetails[Name] | null;
}

/** Any of the checks: switch over `name`. */
export type RecordCheck = { [Name in RecordCheckName]: CheckOf<Name> }[RecordCheckName];

/**
 * The checks that the records decide, in their order. The verdict is the first that fails; a dry run shows all of them. Rate limits and
 * then uses follow, in one atomic charge. A question without an API accepts any API. An API or a key without an allow list accepts every
 * address.
 *
 * @see packages/core/decisions/0005-order-of-checks.md
 */
export const RECORD_CHECKS: readonly RecordCheck[] = [
  { name: "enabled", code: "DISABLED", passes: ({ key }) => key.enabled, details: () => ({}) },
  {
    name: "api",
    code: "FORBIDDEN",
    passes: ({ key }, { apiId }) => apiId === null || apiId === key.apiId,
    details: ({ key: { apiId } }, { apiId: wanted }) =>
      wanted === null ? { apiId } : { apiId, wanted },
  },
  {
    name: "environment",
    code: "FORBIDDEN",
    passes: ({ key }, { environment }) =>
      environment === undefined || environment === key.environment,
    details: ({ key: { environment } }, { environment: wanted }) => {
      if (wanted === undefined) return null;
      return environment === null ? { wanted } : { environment, wanted };
    },
  },
  {
    name: "expiry",
    code: "EXPIRED",
    passes: ({ key }, _question, now) => !isExpired(key.expires, now),
    details: ({ key: { expires } }) => (expires === null ? {} : { expires }),
  },
  {
    name: "idle",
    code: "EXPIRED",
    passes: ({ key, lastUsedAt }, _question, now) =>
      key.expiresWhenUnused === null || !isExpired(idleExpiresAt(key, lastUsedAt), now),
    details: ({ key, lastUsedAt }) => {
      const at = idleExpiresAt(key, lastUsedAt);
      return at === null ? null : { idleExpiresAt: at };
    },
  },
  {
    name: "start",
    code: "NOT_STARTED",
    passes: ({ key }, _question, now) => isStarted(key.startsAt, now),
    details: ({ key: { startsAt } }, _question, now) => {
      if (startsAt === null) return null;
      return isStarted(startsAt, now) ? { startsAt } : { startsAt, retryAfterMs: startsAt - now };
    },
  },
  {
    name: "address",
    code: "FORBIDDEN",
    passes: ({ api, key }, { address }) =>
      isAllowed(api.ipWhitelist, address) && isAllowed(key.ipWhitelist, address),
    details: (_loaded, { address }) => (address === null ? {} : { ipAddress: address }),
  },
  {
    name: "permissions",
    code: "INSUFFICIENT_PERMISSIONS",
    passes: ({ held }, { permissions }) => permissions === null || isSatisfied(permissions, held),
    details: ({ held }, { permissions }) => {
      const missing = permissions === null ? null : missingPermissions(permissions, held);
      return missing === null ? {} : { missing };
    },
  },
];

/** Whether an allow list lets an address through. An empty list does. */
function isAllowed(ipWhitelist: readonly string[], address: string | null): boolean {
  return ipWhitelist.length === 0 || isAddressListed(ipWhitelist, address);
}
