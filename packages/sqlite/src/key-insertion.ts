import type { InsertKeysResult, NewKey } from "@latchkey/core";
import type { Counters } from "./counters.js";
import type { Identities } from "./identities.js";
import type { ExpectedGrants, KeyGrants } from "./key-grants.js";
import { isCounted, type KeyRows } from "./key-rows.js";
import type { OnDemand } from "./on-demand.js";

/** Writes new keys. To be called inside a write transaction. */
export class KeyInsertion {
  readonly #rows: KeyRows;
  readonly #counters: Counters;
  readonly #identities: Identities;
  readonly #grants: KeyGrants;

  constructor(rows: KeyRows, counters: Counters, identities: Identities, grants: KeyGrants) {
    this.#rows = rows;
    this.#counters = counters;
    this.#identities = identities;
    this.#grants = grants;
  }

  /** Everything that may refuse one of the keys is looked at before the first is written. */
  insert(newKeys: readonly NewKey[], onDemand: OnDemand): InsertKeysResult {
    const refused = this.#refusalOf(newKeys);
    if (refused !== null) return refused;
    const workspaceId = newKeys[0]?.key.workspaceId ?? "";
    const expected = this.#grants.expect(
      workspaceId,
      newKeys.map(({ grants }) => grants),
    );
    if (expected.kind === "missing-grants") return expected;

    const counts = new Map<string, number>();
    for (const newKey of newKeys) {
      const { apiId } = newKey.key;
      counts.set(apiId, (counts.get(apiId) ?? 0) + 1);
      this.#write(newKey, expected, onDemand);
    }
    for (const [apiId, count] of counts) this.#rows.count(apiId, count);
    return { kind: "inserted", created: onDemand.created };
  }

  #write(newKey: NewKey, expected: ExpectedGrants, onDemand: OnDemand): void {
    const { key, usage, identity, grants } = newKey;
    const identityId =
      identity === null ? key.identityId : this.#identities.findOrInsert(identity, onDemand);
    const countersSeq = this.#counters.insert(usage);
    const isToBeCounted = isCounted(usage, key.ratelimits);
    const seq = this.#rows.insert(key, identityId, countersSeq, isToBeCounted);
    this.#grants.give(seq, grants, expected, onDemand);
  }

  #refusalOf(newKeys: readonly NewKey[]): InsertKeysResult | null {
    const apis = new Set<string>();
    const hashes = new Set<string>();
    for (const [index, { key }] of newKeys.entries()) {
      const { workspaceId, apiId, hash } = key;
      if (!apis.has(apiId) && !this.#rows.hasApi(workspaceId, apiId)) {
        return { kind: "api-not-found", index };
      }
      apis.add(apiId);
      if (hashes.has(hash) || this.#rows.hasHash(workspaceId, hash)) {
        return { kind: "hash-taken", index };
      }
      hashes.add(hash);
    }
    return null;
  }
}
