/** Answers of the HTTP contract, as far as the console shows them. */
export interface Api {
  readonly id: string;
  readonly name: string;
  readonly deleteProtection?: boolean;
  readonly ipWhitelist?: readonly string[];
  readonly defaults?: ApiDefaults;
  readonly ceilings?: ApiCeilings;
}

export interface ApiDefaults {
  readonly prefix?: string;
  readonly expiresIn?: number;
  readonly remaining?: number;
  readonly ratelimit?: Omit<Limit, "name">;
  readonly ratelimits?: readonly Limit[];
  readonly permissions?: readonly string[];
  readonly environment?: string;
}

export interface ApiCeilings {
  readonly maxExpiresIn?: number;
  readonly maxRemaining?: number;
  readonly permissions?: readonly string[];
  readonly maxRatelimit?: { readonly limit: number; readonly duration: number };
  readonly maxKeysPerIdentity?: number;
}

export interface Limit {
  readonly name: string;
  readonly limit: number;
  readonly duration: number;
  readonly algorithm?: string;
  readonly burst?: number;
  readonly shadow?: boolean;
  readonly autoApply?: boolean;
}

export interface Refill {
  readonly interval: string | { readonly every: number };
  readonly amount: number;
  readonly refillDay?: number;
  readonly carryOver?: number;
  readonly lastRefillAt?: number;
}

export interface Key {
  readonly id: string;
  readonly start: string;
  readonly apiId: string;
  readonly createdAt: number;
  readonly updatedAt?: number;
  readonly enabled: boolean;
  readonly name?: string;
  readonly environment?: string;
  readonly expires?: number;
  readonly startsAt?: number;
  readonly expiresWhenUnused?: number;
  readonly idleExpiresAt?: number;
  readonly lastUsedAt?: number;
  readonly remaining?: number;
  readonly reserved?: number;
  readonly refill?: Refill;
  readonly ratelimits?: readonly Limit[];
  readonly usesFrom?: "identity";
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
  readonly tags?: readonly string[];
  readonly ipWhitelist?: readonly string[];
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly identity?: { readonly id: string; readonly externalId: string };
  readonly rotatedFrom?: string;
  readonly rotatedTo?: string;
}

export interface Identity {
  readonly id: string;
  readonly externalId: string;
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly ratelimits: readonly Limit[];
  readonly remaining?: number;
  readonly reserved?: number;
  readonly refill?: Refill;
}

export interface Check {
  readonly check: string;
  readonly passed: boolean;
  readonly apiId?: string;
  readonly wanted?: string;
  readonly expires?: number;
  readonly startsAt?: number;
  readonly idleExpiresAt?: number;
  readonly ipAddress?: string;
  readonly environment?: string;
  readonly missing?: unknown;
  readonly name?: string;
  readonly limit?: number;
  readonly burst?: number;
  readonly remaining?: number;
  readonly reset?: number;
  readonly cost?: number;
  readonly algorithm?: string;
  readonly exceeded?: boolean;
  readonly from?: "key" | "identity";
  readonly nextRefillAt?: number;
  readonly retryAfterMs?: number;
}

export interface Verdict {
  readonly valid: boolean;
  readonly code: string;
  readonly keyId?: string;
  readonly apiId?: string;
  readonly checks?: readonly Check[];
}

export interface AuditEvent {
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly actor?: string;
  readonly resourceId: string;
  readonly keyId?: string;
  readonly identityId?: string;
  readonly unreadable?: true;
  readonly changes: readonly {
    readonly field: string;
    readonly before?: unknown;
    readonly after?: unknown;
  }[];
}

export interface Reservation {
  readonly reservationId: string;
  readonly keyId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly uses: number;
  readonly ratelimits: readonly { readonly name: string; readonly cost: number }[];
}

export interface Bucket {
  readonly time: number;
  readonly success: number;
  readonly outcomes: Readonly<Record<string, number>>;
}

export interface RootKey {
  readonly id: string;
  readonly start: string;
  readonly name?: string;
  readonly permissions: readonly string[];
  readonly expires?: number;
  readonly enabled: boolean;
  readonly rotatedTo?: string;
  readonly createdAt: number;
}

export interface Role {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly permissions: readonly string[];
}

export interface Permission {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
}

/** An event that a receiver did not accept, and that is no longer sent automatically. */
export interface DeadLetter {
  readonly deadLetterId: string;
  /** Absent if the endpoint is no longer configured. */
  readonly url?: string;
  readonly eventId: string;
  /** Absent if the event was pruned. */
  readonly event?: AuditEvent;
  readonly tries: number;
  readonly givenUpAt: number;
  readonly failure: string;
}
