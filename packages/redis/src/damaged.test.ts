import { aKey, idOf, NOW, WORKSPACE } from "@latchkey/conformance";
import { type KeyStore, NO_CHANGES } from "@latchkey/core";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { type Dump, dump, putBack } from "./testing/dump.js";
import {
  COUNTS,
  fill,
  type Keys,
  namespacePlan,
  planOf,
  rotationOf,
} from "./testing/one-of-everything.js";
import { startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

type Call = (store: KeyStore, keys: Keys) => Promise<unknown>;

const PAGE = { afterId: null, limit: 10 };
const DAY_MS = 86_400_000;
const [API, ROLE, PERMISSION, IDENTITY] = ["api", "role", "perm", "id"].map((kind) =>
  idOf(kind, 1),
) as [string, string, string, string];
const OF_KEY = { kind: "key", id: idOf("key", 1) } as const;
const increment = {
  usage: { due: null, operation: { kind: "increment", by: 1 }, settledAt: NOW },
} as const;

const findRotated: Call = (store) => store.findKey(aKey(3).hash, WORKSPACE);
const chargeRotated: Call = (store, [rotated]) => store.charge(planOf(rotated));
const chargeIdentity: Call = (store, [rotated]) =>
  store.charge({ ...planOf(rotated), usesFrom: "identity" });
const listKeys: Call = (store) => store.listKeys(WORKSPACE, API, { identityId: null }, PAGE);
const updateIdentity: Call = (store) =>
  store.updateIdentity(WORKSPACE, IDENTITY, 1, increment, NO_CHANGES);
const updateRotated: Call = (store, [{ key }]) =>
  store.updateKey(WORKSPACE, key.id, key.version, increment, NO_CHANGES);
const rotateAgain: Call = (store, [rotated]) =>
  store.rotateKey(
    WORKSPACE,
    rotated.key.id,
    rotated.key.version,
    rotationOf(rotated, 9),
    NO_CHANGES,
  );

/** What is damaged, the hash and the field or the string that holds it, the garbage, and the calls that must not use it. */
const DAMAGES: readonly (readonly [string, string, string | null, string, readonly Call[]])[] = [
  [
    "uses of an identity that are no number",
    "uses",
    IDENTITY,
    "NaN:1",
    [
      (store) => store.getIdentity(WORKSPACE, { identityId: IDENTITY }),
      (store) => store.listIdentities(WORKSPACE, PAGE),
      ...[findRotated, listKeys, updateIdentity, chargeIdentity],
    ],
  ],
  [
    "uses that a rotation shares below 0",
    "uses",
    idOf("key", 1),
    "-5:1",
    [findRotated, listKeys, chargeRotated, updateRotated, rotateAgain],
  ],
  [
    "a window that a rotation shares",
    `c:${idOf("key", 1)}`,
    "k:60000:own",
    "soon:1",
    [chargeRotated],
  ],
  ["the number of those that share", `c:${idOf("key", 1)}`, "sharers", "many", [rotateAgain]],
  ["a latest use", "last-used", idOf("key", 3), "never", [findRotated, listKeys]],
  [
    "an API without its lines",
    "apis",
    API,
    "1\n0",
    [
      (store) => store.getApi(WORKSPACE, API),
      (store) => store.listApis(WORKSPACE, PAGE),
      (store) => store.updateApi(WORKSPACE, API, 1, { name: "it" }, NO_CHANGES),
      findRotated,
    ],
  ],
  [
    "a role without a version",
    "roles",
    ROLE,
    '\n\n{"name":"reader"}',
    [
      (store) => store.getRole(WORKSPACE, ROLE),
      (store) => store.listRoles(WORKSPACE),
      (store) => store.setRolePermissions(WORKSPACE, ROLE, 1, [], NO_CHANGES),
    ],
  ],
  [
    "a permission cut off in the middle",
    "permissions",
    PERMISSION,
    '{"name":"docs',
    [
      (store) => store.getPermission(WORKSPACE, PERMISSION),
      (store) => store.listPermissions(WORKSPACE),
      (store) => store.listRoles(WORKSPACE),
      findRotated,
    ],
  ],
  [
    "limits of an identity that are no list",
    "identities",
    IDENTITY,
    '1\n{}\n{}\nnull\n{"externalId":"user-1","createdAt":1}',
    [(store) => store.getIdentity(WORKSPACE, { identityId: IDENTITY }), findRotated],
  ],
  [
    "an epoch that is no number",
    "w",
    "epoch",
    "soon",
    [
      (store) => store.getWorkspace(WORKSPACE),
      (store) => store.setWorkspaceEnabled(WORKSPACE, false, NO_CHANGES),
      (store) => store.deleteApi(WORKSPACE, API, NO_CHANGES),
      (store) => store.deleteRole(WORKSPACE, ROLE, NO_CHANGES),
      (store) => store.deletePermission(WORKSPACE, PERMISSION, NO_CHANGES),
      (store) => store.setRolePermissions(WORKSPACE, ROLE, 1, [], NO_CHANGES),
      findRotated,
    ],
  ],
  [
    "an entry of the audit log of a kind that there is not",
    "changes",
    "evt_9",
    `${OF_KEY.id}\n\n\n{"type":"key.eaten","at":1,"actor":null,"resourceId":"","fields":[]}`,
    [
      (store) => store.listChanges(WORKSPACE, { kind: "all" }, { beforeId: null, limit: 5 }),
      (store) =>
        store.listChanges(
          WORKSPACE,
          { kind: "key", keyId: OF_KEY.id },
          { beforeId: null, limit: 5 },
        ),
    ],
  ],
  [
    "a counter of verifications",
    `v:${String(Math.floor(NOW / DAY_MS)).padStart(9, "0")}:key:${OF_KEY.id}`,
    "12 VALID",
    "1.5",
    [
      (store) => store.getVerifications(WORKSPACE, OF_KEY, NOW - DAY_MS, NOW + DAY_MS),
      (store) => store.addVerifications(WORKSPACE, COUNTS),
    ],
  ],
  [
    "a window of a limit without a key",
    "n:60000:*",
    null,
    "12:",
    [(store) => store.takeFromNamespace(namespacePlan)],
  ],
];

describeWithServers("a damaged value", () => {
  let server: TestServer;
  let control: Redis;
  let store: KeyStore;
  let keys: Keys;
  let whole: Dump;

  beforeAll(async () => {
    server = await startServer();
    control = server.connect();
    store = redisStore(server.url);
    keys = await fill(store);
    whole = await dump(control);
  });
  afterAll(async () => {
    control.disconnect();
    await store.close();
    await server.remove();
  });

  test.each(DAMAGES)(
    "%s is answered with STORE_CORRUPT, and nothing is written",
    async (_, place, field, garbage, calls) => {
      const pattern = `lk:{${WORKSPACE}}:${place}`;
      const [name = pattern] = await control.keys(pattern);
      await (field === null ? control.set(name, garbage) : control.hset(name, field, garbage));
      const before = await dump(control);
      for (const [number, call] of calls.entries()) {
        const answer = await call(store, keys).then(
          () => null,
          (error: unknown) => error,
        );
        expect(answer, `call ${number}`).toMatchObject({ code: "STORE_CORRUPT" });
        expect((answer as Error).message).not.toContain(garbage);
      }
      expect(await dump(control)).toEqual(before);
      await putBack(control, whole);
    },
  );

  test("deletion of a key is not held up by damaged counters", async () => {
    await control.hset(`lk:{${WORKSPACE}}:uses`, idOf("key", 1), "NaN:1");
    await control.hset(`lk:{${WORKSPACE}}:c:${idOf("key", 1)}`, "sharers", "many");
    const removal = { deletedAt: NOW, permanent: false };
    expect(await store.deleteKey(WORKSPACE, idOf("key", 3), removal, NO_CHANGES)).toBe("deleted");
    expect(await store.findKey(aKey(3).hash, WORKSPACE)).toBeNull();
    await putBack(control, whole);
  });
});
