import { type Latchkey, LatchkeyError, type VerifyOutcome } from "@latchkey/core";
import { expect, test } from "vitest";
import { makeChangeFixture, WITH_VAULT } from "./change-cases/fixture.js";
import { CHANGE_CASES } from "./changes.js";
import { describeOnEveryStore } from "./every-store.js";
import { type TestContext, workspacesOf } from "./test-context.js";

/** Short: every change waits for it. */
const LEASE_MS = 50;
/** Of these, enough may be taken ahead. */
const MANY = 100_000;

/** What a verification says, but for the figures that count down. */
function settled(verdict: VerifyOutcome) {
  const { remaining: _, ratelimit: __, ...rest } = { remaining: 0, ratelimit: {}, ...verdict };
  return rest;
}

/**
 * Makes a change while another process decides by itself about the key that it may concern.
 *
 * @param uses - Whose uses it takes.
 * @returns What that process says of the key afterwards, and what one says that has never met it.
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
    // Four at once are many enough for a lease, however slow the store is.
    for (const { code } of await Promise.all(Array.from({ length: 4 }, () => verify(holder))))
      expect(code).toBe("VALID");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  // So that the latest lease is as new as can be.
  const changing = run(context.another(), fixture).catch((error: unknown) => {
    // A key without uses of its own has none that could be changed.
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
    "E2: no change of any operation is passed over by a process with a lease of a key %s",
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
