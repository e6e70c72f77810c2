import { createLatchkey, interceptStore, type Latchkey, unavailable } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, onTestFinished, test, vi } from "vitest";

/** A latchkey whose store becomes unavailable after this many changes. */
async function latchkeyThatLosesItsStore(changes: number): Promise<{
  readonly keyId: string;
  readonly apiId: string;
  readonly losing: Latchkey;
  readonly latchkey: Latchkey;
}> {
  const store = memoryStore();
  const latchkey = createLatchkey({ store });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  await latchkey.createPermission({ name: "write" });
  await latchkey.createRole({ name: "writer" });
  const { keyId } = await latchkey.createKey({ apiId });
  let left = changes;
  const losing = createLatchkey({
    store: interceptStore(store, ({ method }, run) => {
      if (left === 0) return Promise.reject(unavailable("the store is down"));
      if (method === "commit") left -= 1;
      return run();
    }),
  });
  return { keyId, apiId, losing, latchkey };
}

test.each([
  ["setPermissions", { permissions: ["write"] }],
  ["addPermissions", { permissions: ["write"] }],
  ["setRoles", { roles: ["writer"] }],
  ["addRoles", { roles: ["writer"] }],
] as const)("a change by %s no longer needs the store once it is written", async (name, grants) => {
  const { keyId, losing, latchkey } = await latchkeyThatLosesItsStore(1);
  const call = losing[name] as (input: unknown) => Promise<unknown>;
  const [[field, [granted]]] = Object.entries(grants) as [[string, string[]]];
  expect(await call({ keyId, ...grants })).toMatchObject({ [field]: [{ name: granted }] });
  expect(await latchkey.getKey({ keyId })).toMatchObject(grants);
});

test("a deletion that stops halfway is not reported as not applied", async () => {
  const { apiId, losing, latchkey } = await latchkeyThatLosesItsStore(1);
  for (let count = 0; count < 30; count += 1) await latchkey.createKey({ apiId });
  await expect(losing.deleteKeys({ apiId })).rejects.toMatchObject({ outcome: "unknown" });
  expect((await latchkey.listKeys({ apiId })).total).toBeLessThan(31);
});

test("a deletion of an API whose keys stay is not reported as not applied", async () => {
  const { apiId, losing } = await latchkeyThatLosesItsStore(1);
  await expect(losing.deleteApi({ apiId })).rejects.toMatchObject({ outcome: "unknown" });
});

test("a change is reported as not applied if the store was unavailable before it", async () => {
  const { keyId, losing } = await latchkeyThatLosesItsStore(0);
  await expect(losing.setPermissions({ keyId, permissions: ["write"] })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "not-applied",
  });
});

/** A latchkey whose store becomes unavailable once a reservation of another process has ended, and counts its uses in a call of its own. */
async function settledElsewhere() {
  const { countsInStep: _, ...store } = memoryStore();
  const latchkey = createLatchkey({ store });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const { key, keyId } = await latchkey.createKey({ apiId, remaining: 5 });
  const reserve = async () => {
    const made = await latchkey.reserve({ key, remaining: { cost: 3 } });
    if (made.code !== "VALID") throw new Error(made.code);
    return made.reservationId as string;
  };
  let isDown = false;
  const losing = createLatchkey({
    store: interceptStore(store, async ({ method }, run) => {
      if (isDown) throw unavailable("the store is down");
      const result = await run();
      isDown = method === "settle" && (result as { readonly kind: string }).kind === "ended";
      return result;
    }),
  });
  return { latchkey, keyId, reserve, losing };
}

test.each(["its own", "another"])(
  "a reservation that has ended is not reported as not applied if its uses cannot be counted, in a host with %s Promise",
  async (whose) => {
    const { latchkey, keyId, reserve, losing } = await settledElsewhere();
    const reservationId = await reserve();
    if (whose === "another") vi.stubGlobal("Promise", class extends Promise<unknown> {});
    onTestFinished(() => void vi.unstubAllGlobals());
    const settled = losing.settle({ reservationId, remaining: { cost: 1 } });
    await expect(settled).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "unknown" });
    expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 4 });
  },
);

test("a write of several steps is not reported as not written if a clock a day ahead frees its idempotency key", async () => {
  const store = memoryStore();
  const latchkey = createLatchkey({ store });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  for (let count = 0; count < 60; count += 1) await latchkey.createKey({ apiId });
  const ahead = createLatchkey({ store, clock: () => Date.now() + 2 * 86_400_000 });
  let commits = 0;
  const deleting = createLatchkey({
    store: interceptStore(store, async ({ method }, run) => {
      const result = await run();
      if (method === "commit") commits += 1;
      if (method === "commit" && commits === 1)
        await ahead.createPermission({ name: "refund", idempotencyKey: "nightly" });
      return result;
    }),
  });
  await expect(deleting.deleteKeys({ apiId, idempotencyKey: "nightly" })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "unknown",
  });
  expect((await latchkey.listKeys({ apiId })).total).toBeLessThan(60);
  const again = deleting.deleteKeys({ apiId, idempotencyKey: "nightly" });
  await expect(again).rejects.toMatchObject({ reason: "idempotency-key-reused" });
});
