import assert from "node:assert/strict";
import type { KeyStore, RecordAddress, StoredRecord } from "@latchkey/core";
import { it, type StoreContract } from "../fixtures/context.js";
import { entriesOf, pageOf } from "../fixtures/pages.js";
import { aPlan, charge } from "../fixtures/plans.js";
import {
  aRecord,
  assertGone,
  assertHolds,
  at,
  commit,
  find,
  HASH,
  IDENTITY,
  load,
  tryCommit,
  usesOf,
  WORKSPACE,
} from "../fixtures/records.js";

/** Address of a record that a test damages. */
export interface DamagedRecord extends RecordAddress {
  readonly workspaceId: string;
}

/**
 * Kinds of damage that can be written into a stored record, as a bad disk, script or restore would:
 * - `body`: text that is not JSON, such as `{"a":`;
 * - `version`: anything but a whole number >= 0.
 */
export const DAMAGE_KINDS = ["body", "version"] as const;

/** One of {@link DAMAGE_KINDS}. */
export type DamageKind = (typeof DAMAGE_KINDS)[number];

/** Writes each kind of damage. Leave out kinds that the storage itself refuses. */
export type Damage = {
  readonly [Kind in DamageKind]?: (store: KeyStore, record: DamagedRecord) => void | Promise<void>;
};

const KEYS = [1, 2, 3].map((number) => aRecord("key", number, { link: IDENTITY.id }));
const [FIRST, DAMAGED, THIRD] = KEYS as [StoredRecord, StoredRecord, StoredRecord];
const LINKED = { record: IDENTITY, usage: usesOf(9), usedAt: null };

type Inflict = NonNullable<Damage[DamageKind]>;

async function prepare(store: KeyStore, inflict: Inflict, address: RecordAddress = DAMAGED) {
  await commit(store, {
    puts: [
      { record: IDENTITY, counters: { usage: usesOf(9) } },
      ...KEYS.map((record) => ({ record, counters: { usage: usesOf(5) } })),
    ],
    enters: entriesOf(KEYS.map(({ id }) => id)),
    claims: [{ ...HASH, id: DAMAGED.id }],
  });
  await inflict(store, { workspaceId: WORKSPACE, kind: address.kind, id: address.id });
}

/** Asserts what a store returns for the part that it cannot read. */
function assertUnreadable(kind: DamageKind, record: StoredRecord | undefined): void {
  assert.ok(record !== undefined, "the damaged record is left out");
  if (kind === "body") assert.equal(record.body, undefined);
  else assert.equal(record.version, 0);
}

/** The contracts about damaged records, for the kinds of damage that the store's author can cause. */
export function damagedRecordContracts(damage: Damage): readonly StoreContract[] {
  return DAMAGE_KINDS.flatMap((kind) => {
    const inflict = damage[kind];
    if (inflict === undefined) return [];
    const contracts = contractsOf(kind, inflict);
    return kind === "version" ? [...contracts, confirmingContract(inflict)] : contracts;
  });
}

const contractsOf = (kind: DamageKind, inflict: Inflict): readonly StoreContract[] => [
  it(`a record whose ${kind} cannot be read is answered without it, by id and by name, and others are unharmed`, async (store, other) => {
    await prepare(store, inflict);
    for (const connection of [store, other]) {
      for (const want of [DAMAGED, HASH])
        assertUnreadable(kind, (await find(connection, want))?.record);
      await assertHolds(connection, FIRST, { usage: usesOf(5), linked: LINKED });
      const { found } = await connection.read(WORKSPACE, [THIRD, DAMAGED, FIRST]);
      assert.deepEqual(
        found.map((loaded) => loaded?.record.id),
        [THIRD.id, DAMAGED.id, FIRST.id],
      );
    }
  }),
  it(`a page goes on past a record whose ${kind} cannot be read`, async (store, other) => {
    await prepare(store, inflict);
    for (const connection of [store, other]) {
      const { found, size, hasMore } = await pageOf(connection, { limit: 3 });
      assert.deepEqual(
        found.map(({ record }) => record.id),
        KEYS.map(({ id }) => id),
      );
      assert.deepEqual([size, hasMore], [3, false]);
      assertUnreadable(kind, found[1]?.record);
    }
  }),
  it(`a record is read whole beside an identity whose ${kind} cannot be read`, async (store, other) => {
    await prepare(store, inflict, IDENTITY);
    const { record, usage, linked } = await load(other, FIRST);
    assert.deepEqual([record.version, record.body, usage], [1, FIRST.body, usesOf(5)]);
    assertUnreadable(kind, linked?.record);
  }),
  it(`a record whose ${kind} cannot be read can be deleted, and its name is free again`, async (store, other) => {
    await prepare(store, inflict);
    await commit(other, {
      expects: [{ ...at("key", 2), version: "exists" }],
      deletes: [DAMAGED],
      leaves: entriesOf([DAMAGED.id]),
      releases: [{ ...HASH, id: DAMAGED.id }],
    });
    await assertGone(store, DAMAGED);
    assert.equal((await pageOf(store)).size, 2);
    await commit(store, { claims: [{ ...HASH, id: FIRST.id }] });
    assert.equal((await find(other, HASH))?.record.id, FIRST.id);
  }),
  it(`a record whose ${kind} cannot be read is whole again once it was written, with the uses it had`, async (store, other) => {
    await prepare(store, inflict);
    const record = { ...DAMAGED, version: 2 };
    await commit(other, {
      expects: [{ ...at("key", 2), version: "exists" }],
      puts: [{ record }],
    });
    await assertHolds(store, record, { usage: usesOf(5), linked: LINKED });
  }),
];

const confirmingContract = (inflict: Inflict): StoreContract =>
  it("no change or charge can rest on a version that cannot be read", async (store, other) => {
    await prepare(store, inflict);
    const expected = { ...at("key", 2), version: 1 };
    assert.deepEqual(await tryCommit(other, { expects: [expected] }), {
      kind: "stale",
      index: 0,
    });
    for (const connection of [store, other]) {
      const kind = await charge(connection, aPlan({ confirms: [expected] })).then(
        (result) => result.kind,
        (error: { readonly code?: string }) => error.code,
      );
      assert.ok(kind === "stale" || kind === "STORE_CORRUPT", `the charge was ${kind}`);
    }
    assert.deepEqual((await load(other, DAMAGED)).usage, usesOf(5));
  });
