import { expect, test, vi } from "vitest";
import type { RecordAddress } from "./change.js";
import type { ChargePlan } from "./charge.js";
import { createOtherLeases, endOfLease, nameOf } from "./held-leases.js";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** A plan of a key, and of its identity. `fields`: what it takes. */
function aPlan(keyId: string, fields: Partial<ChargePlan> = {}): ChargePlan {
  const confirms = [
    { kind: "key", id: keyId, version: 1 },
    { kind: "identity", id: "id_1", version: 1 },
  ] as const;
  const nothing = { workspaceId: "ws_1", revision: 1, mode: "commit", limits: [] } as const;
  return { ...nothing, confirms, cost: 1, uses: 0, ...fields };
}

/** Watches the leases of others, over a store in which tests put holds on records by their ids. */
function watching(mostRecords?: number) {
  const clock = { time: 0 };
  const held: Record<string, string[]> = {};
  const holds = vi.fn(async (_workspaceId: string, { id }: RecordAddress) =>
    (held[id] ?? []).map((lease) => ({ id: lease })),
  );
  const settle = vi.fn(async () => ({ kind: "unknown" }));
  const others = createOtherLeases(
    { holds, settle } as never,
    () => 7,
    () => clock.time,
    mostRecords,
  );
  const look = async (plan: ChargePlan, isOwn: (id: string) => boolean = () => false) => {
    others.look(plan, isOwn);
    for (let step = 0; step < 5; step += 1) await Promise.resolve();
  };
  return { clock, held, holds, settle, look, count: others.count };
}

test("what a lease holds counts as used once it was seen for more than ten minutes, and only then", async () => {
  const { clock, held, settle, look } = watching();
  held.key_1 = ["lse_dead", "lse_own", "rsv_1"];
  const look1 = () => look(aPlan("key_1"), (id) => id === "lse_own");
  for (; clock.time <= 10 * MINUTE_MS; clock.time += MINUTE_MS) await look1();
  expect(settle).not.toHaveBeenCalled();
  held.key_1.push("lse_new");
  await look1();
  expect(settle.mock.calls).toEqual([["ws_1", endOfLease("lse_dead"), { now: 7, revision: null }]]);
});

test("a lease is not ended if it was given back and there is another one since", async () => {
  const { clock, held, settle, look } = watching();
  for (; clock.time <= 30 * MINUTE_MS; clock.time += 5 * MINUTE_MS) {
    held.key_1 = [`lse_${Math.floor(clock.time / (10 * MINUTE_MS))}`];
    await look(aPlan("key_1"));
  }
  expect(settle).not.toHaveBeenCalled();
});

test("a record is checked every ten seconds at most; an identity only if units of it are taken", async () => {
  const { clock, held, holds, look, count } = watching();
  held.id_1 = ["lse_1", "lse_2", "rsv_1"];
  const shared = aPlan("key_1", { uses: 1 });
  await look(aPlan("key_1"));
  expect(holds.mock.calls.map(([, { id }]) => id)).toEqual(["key_1"]);
  await look(shared);
  expect(holds.mock.calls.map(([, { id }]) => id)).toEqual(["key_1", "id_1"]);
  expect([count(nameOf(shared, 0)), count(nameOf(shared, 1))]).toEqual([0, 2]);
  clock.time = 10 * SECOND_MS - 1;
  await look(shared);
  expect(holds).toHaveBeenCalledTimes(2);
  clock.time = 10 * SECOND_MS;
  await look(shared);
  expect(holds).toHaveBeenCalledTimes(4);
});

test("a store that does not answer is asked again, and earlier sightings are kept", async () => {
  const { clock, held, holds, settle, look } = watching();
  held.key_1 = ["lse_dead"];
  await look(aPlan("key_1"));
  clock.time = 5 * MINUTE_MS;
  holds.mockRejectedValueOnce(new Error("away"));
  await look(aPlan("key_1"));
  clock.time = 11 * MINUTE_MS;
  settle.mockRejectedValueOnce(new Error("away"));
  await look(aPlan("key_1"));
  clock.time = 12 * MINUTE_MS;
  await look(aPlan("key_1"));
  expect(settle).toHaveBeenCalledTimes(2);
});

test("with too many keys in use, those with leases of other processes are remembered", async () => {
  const { clock, held, settle, look } = watching(10);
  held.key_3 = ["lse_dead"];
  for (; clock.time <= 12 * MINUTE_MS; clock.time += 6 * MINUTE_MS)
    for (let key = 0; key < 25; key += 1) await look(aPlan(`key_${key}`));
  expect(settle).toHaveBeenCalledOnce();
});
