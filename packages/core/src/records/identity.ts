import type { Metadata } from "../rules/metadata.js";
import { type IdentityRateLimit, toWireLimits } from "../rules/rate-limit.js";
import { type Refill, refillSetting } from "../rules/refill.js";
import type { EpochMs } from "../time.js";
import { readFigures, readRefill } from "./body.js";
import { defineRecord, unlessEmpty, type VersionedHead } from "./record-type.js";

/** The end user behind keys. `externalId` is unique in a workspace. */
export interface IdentityRecord extends VersionedHead {
  readonly externalId: string;
  readonly meta: Metadata;
  /** Limits shared by all keys of the identity. Names are unique. */
  readonly ratelimits: readonly IdentityRateLimit[];
  /** How the uses that its keys share are restored. */
  readonly refill: Refill | null;
  readonly createdAt: EpochMs;
}

const NO_META: Metadata = Object.freeze({});

/** Identities: found by id or by `externalId`. */
export const identityType = defineRecord<IdentityRecord>({
  kind: "identity",
  write: (identity) => ({ ...identitySettings(identity), createdAt: identity.createdAt }),
  read: (body, head) => {
    const createdAt = body.whole("createdAt");
    return {
      ...head,
      externalId: body.text("externalId"),
      meta: body.jsonOrNull("meta") ?? NO_META,
      ratelimits: body.list("ratelimits", (limit) => ({
        name: limit.text("name"),
        ...readFigures(limit),
        autoApply: limit.flag("autoApply"),
      })),
      refill: body.objectOrNull("refill", (refill) => readRefill(refill, createdAt)),
      createdAt,
    };
  },
  claims: ({ externalId }) => [{ index: "externalId", value: externalId }],
});

/** What an identity is created and changed with, as its body and the audit log have it. */
export function identitySettings({ externalId, meta, ratelimits, refill }: IdentityRecord) {
  return {
    externalId,
    meta: Object.keys(meta).length === 0 ? null : meta,
    ratelimits: unlessEmpty(toWireLimits(ratelimits)),
    refill: refill && refillSetting(refill),
  };
}

/** A new identity without metadata, limits or a number of uses, as it is created along with a key. */
export function newIdentity(
  id: string,
  workspaceId: string,
  externalId: string,
  createdAt: EpochMs,
): IdentityRecord {
  return {
    id,
    workspaceId,
    externalId,
    meta: NO_META,
    ratelimits: [],
    refill: null,
    createdAt,
    version: 1,
  };
}
