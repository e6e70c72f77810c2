import { type Latchkey, LatchkeyError, type VerifyOutcome } from "@latchkey/core";
import { expect, test } from "vitest";
import { makeChangeFixture, WITH_VAULT } from "./change-cases/fixture.js";
import { CHANGE_CASES } from "./changes.js";
import { describeOnEveryStore } from "./every-store.js";
import { type TestContext, workspacesOf } from "./test-context.js";

/** Short: every change waits for it. */
const LEASE_MS = 50;
/** A number that leaves enough to lease. */
const MANY = 100_000;

/** A verdict without the figures that count down. */
function settled(verdict: VerifyOutcome) {
  const { remaining: _, ratelimit: __, ...rest } = { remaining: 0, ratelimit: {}, ...verdict };
  return rest;
}

/**
 * Makes a change while another process has a lease of the key.
 *
 * @param uses - The owner of the uses that the key takes.
 * @returns The verdict of that process afterwards, and the verdict of a process without any cache.
 */
async function changeUnderLease(
  context: TestContext,
  run: (typeof CHANGE_CASES)[number]["run"],
  uses: "none" | "key" | "identity",
) {
  const fixture = await makeChangeFixture(context);
  const { key, keyId, identityId } = fixture;
  const value = uses === "key" ? MANY : null;
  await context.latchkey.updateRemaining({ keyId, op: "set", value });
  if (uses === "identity") {
    await context.latchkey.updateIdentity({ identityId, remaining: MANY });
    await context.latchkey.updateKey({ keyId, usesFrom: "identity" });
  }
  let leased = 0;
  const holder = context.another({
    leases: { ms: LEASE_MS },
    onEvent: (event) => {
      if ("leased" in event) leased += 1;
    },
  });
  const verify = async (by: Latchkey) =>
    settled(await by.verifyKey({ key, authorization: { permissions: "tides.read" } }));
  while (leased < 2) {
    // Four concurrent verifications are enough for a lease on a store of any speed.
    for (const { code } of await Promise.all(Array.from({ length: 4 }, () => verify(holder))))
      expect(code).toBe("VALID");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  // Keeps the latest lease as fresh as possible.
  const changing = run(context.another(), fixture).catch((error: unknown) => {
    // A key without its own uses has none to change.
    const isRefused =
      error instanceof LatchkeyError && ["BAD_REQUEST", "PRECONDITION_FAILED"].includes(error.code);
    if (!isRefused || uses === "key") throw error;
  });
  await verify(holder);
  await changing;
  return [await verify(holder), await verify(context.another())] as const;
}

describeOnEveryStore("leases", (open, runs) => {
  test.each([
    ["without counters", "none"],
    ["with uses", "key"],
    ["with uses of its identity", "identity"],
  ] as const)(
    "E2: a process with a lease of a key %s sees every change of every operation",
    async (_, uses) => {
      const nextWorkspace = workspacesOf(open({ ...WITH_VAULT, usage: false }));
      const stride = Math.ceil(CHANGE_CASES.length / runs(CHANGE_CASES.length));
      const cases = CHANGE_CASES.filter((_case, at) => at % stride === 0);
      const all = await Promise.all(
        cases.map(async ({ title, run }) => {
          const [held, fresh] = await changeUnderLease(nextWorkspace(), run, uses);
          return { title, held, fresh };
        }),
      );
      expect(all.map(({ title, held }) => [title, held])).toEqual(
        all.map(({ title, fresh }) => [title, fresh]),
      );
      if (stride > 1) return;
      const codes = [...new Set(all.map(({ held }) => held.code))];
      expect(codes).toEqual(
        expect.arrayContaining(["VALID", "DISABLED", "NOT_FOUND", "INSUFFICIENT_PERMISSIONS"]),
      );
    },
  );
});
