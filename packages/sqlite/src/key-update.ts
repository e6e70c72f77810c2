import { changeUsage, type KeyPatch, type UpdateKeyResult } from "@latchkey/core";
import type { Counters } from "./counters.js";
import type { SqliteDatabase } from "./database.js";
import type { Identities } from "./identities.js";
import { KeyFields } from "./key-fields.js";
import type { KeyGrants } from "./key-grants.js";
import type { KeyRows } from "./key-rows.js";
import { encodeKeyLimits } from "./limits.js";
import type { OnDemand } from "./on-demand.js";
import { refillColumns } from "./refill.js";
import { keptWindows } from "./windows.js";

/** Guarded updates of keys. To be called inside a write transaction. */
export class KeyUpdate {
  readonly #rows: KeyRows;
  readonly #fields: KeyFields;
  readonly #counters: Counters;
  readonly #identities: Identities;
  readonly #grants: KeyGrants;

  constructor(
    database: SqliteDatabase,
    rows: KeyRows,
    counters: Counters,
    identities: Identities,
    grants: KeyGrants,
  ) {
    this.#rows = rows;
    this.#fields = new KeyFields(database);
    this.#counters = counters;
    this.#identities = identities;
    this.#grants = grants;
  }

  /** Everything that may refuse the update is looked at before anything is written. */
  update(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    patch: KeyPatch,
    onDemand: OnDemand,
  ): UpdateKeyResult {
    const stored = this.#rows.stateOf(workspaceId, keyId);
    if (stored === null) return { kind: "not-found" };
    if (stored.version !== expectedVersion) return { kind: "stale" };
    const { seq, countersSeq } = stored;
    const before = this.#counters.get(countersSeq, "key", keyId);
    const change = patch.usage && changeUsage(before.usage, patch.usage);
    if (change && change.kind !== "changed") return { kind: "usage-refused", reason: change };
    const { grants = {}, ratelimits, identity, refill } = patch;
    const expected = this.#grants.expect(workspaceId, [grants]);
    if (expected.kind === "missing-grants") return expected;

    this.#grants.replace(seq, grants, expected, onDemand);
    const usage = change?.usage ?? before.usage;
    if (change || ratelimits !== undefined) {
      const { windows } = before;
      this.#counters.set(
        countersSeq,
        usage,
        ratelimits ? keptWindows(windows, ratelimits) : windows,
      );
    }
    if (ratelimits !== undefined) this.#fields.set(seq, "ratelimits", encodeKeyLimits(ratelimits));
    if (usage.remaining !== null || (ratelimits?.length ?? 0) > 0) this.#fields.count(seq);
    if (identity !== undefined) {
      const identityId = identity && this.#identities.findOrInsert(identity, onDemand);
      this.#fields.set(seq, "identity", identityId);
    }
    if (refill !== undefined) this.#fields.setRefill(seq, refillColumns(refill));
    this.#setPlainFields(seq, patch);
    if (hasConfiguration(patch)) this.#fields.raiseVersion(seq);
    return { kind: "updated", usage, created: onDemand.created };
  }

  #setPlainFields(seq: number, patch: KeyPatch): void {
    const { name, meta, updatedAt, expiresAt, switchedOn, environment, sealedSecret } = patch;
    const fields = this.#fields;
    if (name !== undefined) fields.set(seq, "name", name);
    if (meta !== undefined) fields.set(seq, "meta", meta === null ? null : JSON.stringify(meta));
    if (updatedAt !== undefined) fields.set(seq, "updatedAt", updatedAt);
    if (expiresAt !== undefined) fields.set(seq, "expiresAt", expiresAt);
    if (switchedOn !== undefined) fields.set(seq, "switchedOn", switchedOn ? 1 : 0);
    if (environment !== undefined) fields.set(seq, "environment", environment);
    if (patch.usesFrom !== undefined) fields.set(seq, "usesFrom", patch.usesFrom);
    if (sealedSecret !== undefined) fields.set(seq, "sealedSecret", sealedSecret);
  }
}

/** Counters and the instant of the change are no configuration. A field that is given counts as changed. */
function hasConfiguration({ usage: _usage, updatedAt: _updatedAt, ...fields }: KeyPatch): boolean {
  return Object.values(fields).some((field) => field !== undefined);
}
