import { LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { OTHERS, THEIRS } from "./erasing.js";
import { describeOnEveryStore } from "./every-store.js";
import { type OpenContext, type TestContext, workspacesOf } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20260504);

/** Most actions beside one erasure. */
const MOST_ACTIONS = 30;

const { externalId } = THEIRS;

/** Actions of another process on a user and their keys, none of which creates the user anew. */
function actionsOn({ latchkey }: TestContext, chance: Chance, apiId: string, keyIds: string[]) {
  const keyId = () => chance.pick(keyIds);
  let count = 0;
  const once = () => {
    count += 1;
    return `once-${count}`;
  };
  const identity = () => latchkey.getIdentity({ externalId });
  return [
    () => latchkey.updateKey({ keyId: keyId(), externalId: OTHERS.externalId }),
    () => latchkey.updateKey({ keyId: keyId(), externalId: null }),
    async () => {
      await identity();
      await latchkey.updateKey({ keyId: keyId(), externalId });
    },
    async () => {
      keyIds.push((await latchkey.rotateKey({ keyId: keyId(), graceMs: 5_000 })).keyId);
    },
    () => latchkey.updateKey({ keyId: keyId(), tags: ["boats"] }),
    () => latchkey.deleteKey({ keyId: keyId() }),
    () => latchkey.deleteApi({ apiId }),
    () => latchkey.disableKeys({ externalId, idempotencyKey: once() }),
    () => {
      const meta = { note: THEIRS.laterMeta };
      return latchkey.updateIdentity({ externalId, meta, idempotencyKey: once() });
    },
    async () => latchkey.deleteIdentity({ identityId: (await identity()).id }),
  ];
}

async function eraseBesideOthers(open: () => TestContext, seed: number): Promise<string> {
  const context = open();
  const { latchkey, store } = context;
  const chance = chanceOf(seed);
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  const { apiId: otherId } = await latchkey.createApi({ name: "harbour gates" });
  await latchkey.createIdentity({ externalId, meta: { note: THEIRS.identityMeta } });
  const keyIds: string[] = [];
  for (let made = 0; made < 4; made += 1) {
    const owner = chance.pick([externalId, externalId, OTHERS.externalId]);
    const key = { apiId: chance.pick([apiId, otherId]), externalId: owner };
    keyIds.push((await latchkey.createKey(key)).keyId);
  }
  const actions = actionsOn(context, chance, otherId, keyIds);
  let acted = 0;
  const beside = wrapped(store, {
    commit: async (workspaceId, change) => {
      if (acted < MOST_ACTIONS && chance.below(2) === 0) {
        acted += 1;
        await chance
          .pick(actions)()
          .catch((error: unknown) => {
            // The key, the API or the user is gone by now, or the key was rotated before.
            if (!(error instanceof LatchkeyError) || error.code === "STORE_UNAVAILABLE")
              throw error;
          });
      }
      return store.commit(workspaceId, change);
    },
  });
  await context.another({ store: beside }).eraseIdentity({ externalId });
  const events = [];
  for await (const event of latchkey.auditEvents()) events.push(event);
  const list = { kind: "rememberedAnswer", list: "rememberedAnswer", after: null } as const;
  const { found } = await store.page(events[0]?.workspaceId ?? "", { ...list, limit: 100 });
  const again = await latchkey.eraseIdentity({ externalId }).catch(({ code }) => code as unknown);
  return JSON.stringify([events, found, again]);
}

async function expectErasedBesideOthers(open: OpenContext, erasures: number): Promise<void> {
  const nextWorkspace = workspacesOf(open());
  for (let seed = SEED; seed < SEED + erasures; seed += 1) {
    const left = await eraseBesideOthers(nextWorkspace, seed);
    const texts = Object.values(THEIRS).filter((text) => left.includes(text));
    expect(texts, `seed ${seed}`).toEqual([]);
    expect(left, `seed ${seed}`).toContain(',"NOT_FOUND"]');
  }
}

/** Erases a user whose entries another user made, who is erased before the commit at this place. @returns The log; null: no such commit. */
async function eraseBoth(open: () => TestContext, place: number) {
  const { latchkey, store, another } = open();
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  for (const owner of [OTHERS.externalId, externalId])
    await latchkey.actingAs(OTHERS.externalId).createKey({ apiId, externalId: owner });
  let commits = 0;
  const overtaken = wrapped(store, {
    commit: async (workspaceId, change) => {
      commits += 1;
      if (commits === place) await another().eraseIdentity({ externalId: OTHERS.externalId });
      return store.commit(workspaceId, change);
    },
  });
  await another({ store: overtaken }).eraseIdentity({ externalId });
  if (commits < place) return null;
  const events = [];
  for await (const event of latchkey.auditEvents()) events.push(event);
  return JSON.stringify(events);
}

describeOnEveryStore("erasing", (open, runs) => {
  test("B2: two users who are erased at the same time are both gone, also as actors of the other's entries", async () => {
    const nextWorkspace = workspacesOf(open());
    let place = 1;
    for (;;) {
      const left = await eraseBoth(nextWorkspace, place);
      if (left === null) break;
      for (const name of [externalId, OTHERS.externalId])
        expect(left, `overtaken at commit ${place}`).not.toContain(name);
      place += 1;
    }
    expect(place).toBeGreaterThan(5);
  });

  test("B2: leaves nothing of the user in the log and in remembered answers, whatever others do meanwhile", async () => {
    await expectErasedBesideOthers(open, runs(40));
  });
});
