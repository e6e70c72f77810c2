import type { Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf, seedsOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { issue, type TestContext, workspacesOf } from "./test-context.js";

/** A list that can be looped over, and how its items come and go. */
interface List {
  readonly loop: (latchkey: Latchkey, limit: number) => AsyncIterable<object>;
  readonly idOf: (item: never) => string;
  /** Creates an item. @returns Its id. */
  readonly create: (latchkey: Latchkey, name: string) => Promise<string>;
  readonly remove: (latchkey: Latchkey, id: string) => Promise<unknown>;
  readonly order: "ascending" | "descending";
  /** Removing does something else. */
  readonly neverEnds?: boolean;
}

const byId = ({ id }: { readonly id: string }) => id;

/** Lists of a workspace with a key that has many uses. */
function listsOf({ key, keyId }: { readonly key: string; readonly keyId: string }) {
  const ascending = { idOf: byId, order: "ascending" } as const;
  return {
    apis: {
      loop: (latchkey, limit) => latchkey.apis({ limit }),
      create: async (latchkey, name) => (await latchkey.createApi({ name })).apiId,
      remove: (latchkey, apiId) => latchkey.deleteApi({ apiId }),
      ...ascending,
    },
    identities: {
      loop: (latchkey, limit) => latchkey.identities({ limit }),
      create: async (latchkey, externalId) =>
        (await latchkey.createIdentity({ externalId })).identityId,
      remove: (latchkey, identityId) => latchkey.deleteIdentity({ identityId }),
      ...ascending,
    },
    rootKeys: {
      loop: (latchkey, limit) => latchkey.rootKeys({ limit }),
      create: async (latchkey, name) =>
        (await latchkey.createRootKey({ name, permissions: ["*"] })).rootKeyId,
      remove: (latchkey, rootKeyId) => latchkey.revokeRootKey({ rootKeyId }),
      ...ascending,
    },
    reservations: {
      loop: (latchkey, limit) => latchkey.reservations({ keyId, limit }),
      idOf: ({ reservationId }: { readonly reservationId: string }) => reservationId,
      create: async (latchkey) => {
        const verdict = await latchkey.reserve({ key, ttl: "1h" });
        if (verdict.code !== "VALID") throw new TypeError(verdict.code);
        return verdict.reservationId;
      },
      remove: (latchkey, reservationId) => latchkey.release({ reservationId }),
      order: "ascending",
    },
    auditEvents: {
      loop: (latchkey, limit) => latchkey.auditEvents({ actor: "harbour", limit }),
      idOf: byId,
      create: async (latchkey, name) => {
        await latchkey.actingAs("harbour").createPermission({ name });
        const { events } = await latchkey.listAuditEvents({ actor: "harbour", limit: 1 });
        return events[0]?.id ?? "";
      },
      // Other entries come meanwhile.
      remove: (latchkey, id) => latchkey.createRole({ name: `of.${id}` }),
      order: "descending",
      neverEnds: true,
    },
  } satisfies Readonly<Record<string, List>>;
}

/** All workspaces of a store. */
const WORKSPACES: List = {
  loop: (latchkey, limit) => latchkey.workspaces({ limit }),
  idOf: byId,
  create: async (latchkey, name) => (await latchkey.createWorkspace({ name })).workspaceId,
  remove: (latchkey, workspaceId) =>
    latchkey.deleteWorkspace({ workspaceId, confirm: workspaceId }),
  order: "ascending",
};

/** Loops over a list while items come and go. @returns What was wrong. */
async function loopWhileChanging(
  { latchkey, another, advance }: TestContext,
  list: List,
  { below, pick }: Chance,
): Promise<object> {
  let made = 0;
  const create = async () => {
    advance(below(2));
    made += 1;
    return list.create(latchkey, `item ${made}`.replace(" ", "-"));
  };
  const lasting: string[] = [];
  for (let item = 0; item < 7; item += 1) lasting.push(await create());
  const told: string[] = [];
  const ended = new Set<string>();
  for await (const item of list.loop(another(), 1 + below(3))) {
    told.push(list.idOf(item as never));
    for (let changes = below(3); changes > 0; changes -= 1) {
      if (below(2) === 0) await create();
      // Also the last one that was returned, where the next page starts.
      const id = below(2) === 0 ? (told.at(-1) ?? "") : pick(lasting);
      if (below(2) > 0 || ended.has(id)) continue;
      ended.add(id);
      await list.remove(latchkey, id);
    }
  }
  const isEnded = (id: string) => list.neverEnds !== true && ended.has(id);
  const sorted = told.toSorted();
  return {
    missing: lasting.filter((id) => !isEnded(id) && !told.includes(id)),
    twice: told.filter((id, index) => told.indexOf(id) !== index),
    isInOrder: told.join() === (list.order === "ascending" ? sorted : sorted.toReversed()).join(),
  };
}

describeOnEveryStore("a loop over", (open, runs) => {
  test.each(["apis", "identities", "rootKeys", "reservations", "auditEvents"] as const)(
    "%s returns every lasting item once, in its order, while items come and go",
    async (title) => {
      const nextWorkspace = workspacesOf(open());
      for (const seed of seedsOf(runs(40))) {
        const context = nextWorkspace();
        const list = listsOf(await issue(context, { remaining: 1_000 }))[title];
        const found = await loopWhileChanging(context, list, chanceOf(seed));
        const nothing = { missing: [], twice: [], isInOrder: true };
        expect(found, `seed ${seed}`).toEqual(nothing);
      }
    },
  );

  test("workspaces returns every lasting one once, in its order, while others come and go", async () => {
    for (const seed of seedsOf(runs(16))) {
      const found = await loopWhileChanging(open(), WORKSPACES, chanceOf(seed));
      expect(found, `seed ${seed}`).toEqual({ missing: [], twice: [], isInOrder: true });
    }
  });
});
