import type { JsonValue } from "../rules/metadata.js";
import type { EpochMs } from "../time.js";

/** Every kind of configuration change: what it was made to, and what became of it. Events go by the same names. */
export const CHANGE_TYPES = [
  "api.created",
  "api.updated",
  "api.deleted",
  "key.created",
  "key.updated",
  "key.rotated",
  "key.deleted",
  "identity.created",
  "identity.updated",
  "identity.deleted",
  "permission.created",
  "permission.deleted",
  "role.created",
  "role.updated",
  "role.deleted",
  "root_key.created",
  "root_key.revoked",
  "workspace.created",
  "workspace.enabled",
  "workspace.disabled",
] as const;

/** One kind of {@link CHANGE_TYPES}. */
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** One field that a change touched, in the words of the HTTP contract. Absent on a side where it had no value. */
export interface FieldChange {
  readonly field: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
}

/** Who changed what, when, and how: one entry of the audit log. Never holds a secret, a hash or an encrypted secret. */
export interface ChangeRecord {
  /** `evt_…`; in ascending order of id is in the order of time. */
  readonly id: string;
  readonly workspaceId: string;
  readonly type: ChangeType;
  readonly at: EpochMs;
  /** Who made it, as the caller named itself: a root key's id, or what the host says; null for nobody in particular. */
  readonly actor: string | null;
  /** Id of what was changed: the key, the API, the identity … */
  readonly resourceId: string;
  /** The key that it concerns, or null. */
  readonly keyId: string | null;
  /** The identity that it concerns, or null. */
  readonly identityId: string | null;
  readonly fields: readonly FieldChange[];
}

/** An entry that a store is to write together with the change. */
export interface LoggedChange {
  readonly change: ChangeRecord;
  /**
   * Written only where the step creates the record `resourceId`, which it does where that was missing: an identity, a
   * role or a permission that is made on demand.
   */
  readonly ifCreated: boolean;
}

/**
 * What a write leaves in the audit log: in the same atomic step, all of it or, where the write changed nothing, none.
 * Empty where the log is switched off.
 *
 * Where an entry names as `identityId` an identity that was to be made on demand, and an existing one was linked
 * instead, the id of the existing one is stored.
 */
export type ChangeLog = readonly LoggedChange[];

/** Which entries of the audit log are wanted. */
export type ChangeFilter =
  | { readonly kind: "all" }
  | { readonly kind: "key"; readonly keyId: string }
  | { readonly kind: "identity"; readonly identityId: string }
  | { readonly kind: "actor"; readonly actor: string };

/** What is written where nothing is to be. */
export const NO_CHANGES: ChangeLog = Object.freeze([]);
