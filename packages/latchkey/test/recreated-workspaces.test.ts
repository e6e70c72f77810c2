import type { Latchkey, PortalSession } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, HOUR_MS, NOON } from "./test-context.js";

const GONE = "ws_harbour";
const INPUT = { workspaceId: GONE, confirm: GONE };

/** Everything that programs may still hold of a workspace. */
async function live(latchkey: Latchkey) {
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  await latchkey.createPermission({ name: "docs.read" });
  const { key, keyId } = await latchkey.createKey({
    apiId,
    externalId: "pier-7",
    remaining: 10_000,
    ratelimit: { limit: 9_000, duration: HOUR_MS },
    permissions: ["docs.read"],
  });
  const allow = { apiIds: [apiId], create: true, rotate: true, revoke: true };
  const { secret } = await latchkey.createPortalSession({ externalId: "pier-7", allow });
  const session = (await latchkey.openPortalSession(secret)) as PortalSession;
  const held = await latchkey.reserve({ key, ttl: "1h" });
  const reservationId = held.valid ? held.reservationId : "";
  const root = await latchkey.createRootKey({ permissions: ["*"] });
  return { apiId, key, keyId, secret, session, reservationId, root };
}

type Life = Awaited<ReturnType<typeof live>>;

/** Calls of programs that do not know of the deletion. */
const callsOf = (latchkey: Latchkey, life: Life): readonly (() => Promise<unknown>)[] => [
  () => latchkey.verifyKey({ key: life.key }),
  () => latchkey.verifyKey({ key: life.key }),
  () => latchkey.createKey({ apiId: life.apiId, externalId: "pier-8" }),
  () =>
    latchkey.createKeys([{ apiId: life.apiId, plaintext: `of ${life.apiId} ${Math.random()}` }]),
  () => latchkey.updateKey({ keyId: life.keyId, name: "boat" }),
  () => latchkey.updateRemaining({ keyId: life.keyId, op: "increment", value: 3 }),
  () => latchkey.rotateKey({ keyId: life.keyId, graceMs: HOUR_MS }),
  () => life.session.createMyKey({ name: "south" }),
  () => latchkey.openPortalSession(life.secret),
  () => latchkey.settle({ reservationId: life.reservationId }),
  () => latchkey.notice(),
  () => latchkey.exportUsage({ start: NOON, end: NOON + HOUR_MS, granularity: "hour", by: "key" }),
  () => latchkey.readEvents(),
  () => latchkey.authenticateRootKey(life.root.key),
  () => latchkey.rotateRootKey({ rootKeyId: life.root.rootKeyId }),
  () => latchkey.endLeases(),
];

describeOnEveryStore(
  "a workspace that is deleted and created anew while programs use it",
  (open) => {
    test("has nothing of the old one, and loses nothing of the new one", async () => {
      const context = open({
        leases: { ms: 10 },
        usage: { flushMs: 20 },
        notice: { usesBelow: 9_999 },
      });
      const processes = [
        context.latchkey,
        context.another(),
        context.another({ leases: undefined }),
      ];
      const [first, ...others] = processes.map((each) => each.workspace(GONE));
      if (first === undefined) throw new TypeError("no process");
      for (let time = 0; time < 2; time += 1) {
        const old = await live(first);
        let isOver = false;
        const using = [first, ...others].flatMap((latchkey) =>
          callsOf(latchkey, old).map(async (call) => {
            while (!isOver) {
              await call().catch(() => undefined);
              await new Promise((resolve) => setTimeout(resolve, 1));
            }
          }),
        );
        await new Promise((resolve) => setTimeout(resolve, 30));
        await Promise.all(processes.slice(1).map((each) => each.deleteWorkspace(INPUT)));
        await first.updateWorkspace({ name: "Harbour" });
        const { apiId } = await first.createApi({ name: "gates" });
        const made = await first.createKey({ apiId, remaining: 1_000 });
        let valid = 0;
        for (const latchkey of [first, ...others])
          for (let count = 0; count < 20; count += 1)
            if ((await latchkey.verifyKey({ key: made.key })).valid) valid += 1;
        isOver = true;
        await Promise.all(using);
        expect(valid).toBe(60);
        expect((await first.verifyKey({ key: old.key })).code).toBe("NOT_FOUND");
        expect(await first.openPortalSession(old.secret)).toBeNull();
        expect((await first.authenticateRootKey(old.root.key)).kind).toBe("refused");
        expect((await first.listApis()).apis.map(({ id }) => id)).toEqual([apiId]);
        expect((await first.listKeys({ apiId })).total).toBe(1);
        expect((await first.listIdentities()).total).toBe(0);
        expect((await first.listRootKeys()).rootKeys).toEqual([]);
        expect(await first.listPermissions()).toEqual([]);
        const { events } = await first.readEvents();
        const ids = events.map(({ resourceId }) => resourceId);
        expect(ids.filter((id) => ![GONE, apiId, made.keyId].includes(id))).toEqual([]);
        for (const latchkey of [first, ...others]) await latchkey.getVerifications({ apiId });
        const { verifications } = await first.getVerifications({ apiId, granularity: "day" });
        expect(verifications.at(-1)?.outcomes.VALID).toBe(60);
        context.advance(2 * HOUR_MS);
        const range = { start: context.now() - DAY_MS, end: context.now() } as const;
        const { rows } = await first.exportUsage({ ...range, granularity: "hour", by: "api" });
        expect(rows.map((row) => [row.apiId, row.uses])).toEqual([[apiId, 60]]);
        await context.latchkey.endLeases();
        await first.deleteWorkspace(INPUT);
      }
    });
  },
);
