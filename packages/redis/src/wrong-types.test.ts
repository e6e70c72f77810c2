import {
  aKey,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aRole,
  aRootKey,
  aUsageChange,
  idOf,
  NOW,
  WORKSPACE,
} from "@latchkey/conformance";
import type { GrantReference, KeyStore } from "@latchkey/core";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore } from "./index.js";
import { type Dump, dump, putBack } from "./testing/dump.js";
import {
  COUNTS,
  ENTRY,
  fill,
  type Keys,
  LOG,
  namespacePlan,
  planOf,
  rotationOf,
  USES,
} from "./testing/one-of-everything.js";
import { startServer, type TestServer } from "./testing/redis-server.js";
import { describeWithServers } from "./testing/where.js";

const REMOVAL = { deletedAt: NOW, permanent: true };
const DAYS_LATER = NOW + 9 * 86_400_000;
type Call = (store: KeyStore, keys: Keys) => Promise<unknown>;

/** What is made on demand, and not there yet. */
const grants = {
  roles: [orCreate(aRole("made", 2))],
  permissions: [orCreate(aPermission("made", 2))],
};

function orCreate<Definition extends { readonly name: string }>(
  definition: Definition,
): GrantReference<Definition> {
  return { kind: "name", name: definition.name, orCreate: definition };
}

const newKey = aNewKey(aKey(9, { sealedSecret: "s".repeat(100) }), {
  identity: anIdentity(2),
  grants,
});
/** Redis keys that only some calls make. */
const NOT_YET = [
  "w",
  `k:${aKey(9).hash}`,
  `x:${aKey(9).hash}`,
  `i:${idOf("id", 2)}`,
  `c:${idOf("key", 2)}`,
].map((end) => `lk:{${WORKSPACE}}:${end}`);

describeWithServers("a value of another type at any Redis key", () => {
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

  /** Calls, the Redis keys that refuse them, which are all that they are given but for those that they only delete. */
  const calls: readonly (readonly [string, string, Call])[] = [
    [
      "insertKeys",
      "apis change-list changes external-ids i identities identity-key-list identity-list key-hashes key-list permission-names permissions role-names roles uses",
      (store) => store.insertKeys([newKey], LOG),
    ],
    [
      "updateKey",
      "apis c change-list changes external-ids i identities identity-key-list identity-list k key-hashes permission-names permissions role-names roles uses x",
      (store, [, { key }]) =>
        store.updateKey(
          WORKSPACE,
          key.id,
          key.version,
          {
            ...{ identity: anIdentity(2), grants, ratelimits: [], meta: { text: "m".repeat(99) } },
            usage: aUsageChange({ kind: "increment", by: 1 }),
          },
          LOG,
        ),
    ],
    [
      "updateKey with shared counters",
      "apis c change-list changes identity-key-list k key-hashes uses",
      (store, [{ key }]) =>
        store.updateKey(
          WORKSPACE,
          key.id,
          key.version,
          { ratelimits: [], usage: aUsageChange({ kind: "increment", by: 1 }) },
          LOG,
        ),
    ],
    [
      "rotateKey",
      "apis c change-list changes identity-key-list k key-hashes key-list uses x",
      (store, [, alone]) =>
        store.rotateKey(WORKSPACE, alone.key.id, alone.key.version, rotationOf(alone, 9), LOG),
    ],
    [
      "rotateKey once more",
      "apis c change-list changes identity-key-list k key-hashes key-list uses",
      (store, [rotated]) =>
        store.rotateKey(
          WORKSPACE,
          rotated.key.id,
          rotated.key.version,
          rotationOf(rotated, 9),
          LOG,
        ),
    ],
    [
      "deleteKey",
      "apis c change-list changes identity-key-list k key-hashes key-list last-used uses",
      (store, [{ key }]) => store.deleteKey(WORKSPACE, key.id, REMOVAL, LOG),
    ],
    [
      "deleteKeys",
      "c c change-list changes identity-key-list k k k key-hashes key-list last-used uses",
      (store) => store.deleteKeys(WORKSPACE, idOf("api", 1), 9, NOW, () => ENTRY),
    ],
    [
      "insertIdentity",
      "change-list changes external-ids i identities identity-list uses",
      (store) => store.insertIdentity(anIdentity(2), USES, LOG),
    ],
    [
      "updateIdentity",
      "change-list changes i identities uses",
      (store) =>
        store.updateIdentity(
          WORKSPACE,
          idOf("id", 1),
          1,
          { ratelimits: [], usage: aUsageChange({ kind: "increment", by: 1 }) },
          LOG,
        ),
    ],
    [
      "deleteIdentity",
      "change-list changes external-ids identities identity-list uses",
      (store) => store.deleteIdentity(WORKSPACE, idOf("id", 1), LOG),
    ],
    [
      "insertPermission",
      "change-list changes permission-names permissions",
      (store) => store.insertPermission(aPermission("made", 2), LOG),
    ],
    [
      "deletePermission",
      "change-list changes permission-names permissions w",
      (store) => store.deletePermission(WORKSPACE, idOf("perm", 1), LOG),
    ],
    [
      "insertRole",
      "change-list changes permission-names permissions role-names roles",
      (store) => store.insertRole(aRole("made", 2), grants.permissions, LOG),
    ],
    [
      "setRolePermissions",
      "change-list changes permission-names permissions roles w",
      (store) => store.setRolePermissions(WORKSPACE, idOf("role", 1), 1, grants.permissions, LOG),
    ],
    [
      "deleteRole",
      "change-list changes permissions role-names roles w",
      (store) => store.deleteRole(WORKSPACE, idOf("role", 1), LOG),
    ],
    ["insertApi", "api-list apis change-list changes", (store) => store.insertApi(anApi(2), LOG)],
    [
      "updateApi",
      "apis change-list changes w",
      (store) => store.updateApi(WORKSPACE, idOf("api", 1), 1, { name: "it" }, LOG),
    ],
    [
      "deleteApi",
      "api-list apis change-list changes w",
      (store) => store.deleteApi(WORKSPACE, idOf("api", 1), LOG),
    ],
    [
      "insertRootKey",
      "change-list changes root-key-list root-keys",
      (store) => store.insertRootKey(aRootKey(2), LOG),
    ],
    [
      "deleteRootKey",
      "change-list changes root-key-list root-keys",
      (store) => store.deleteRootKey(WORKSPACE, idOf("root", 1), LOG),
    ],
    [
      "insertWorkspace",
      "api-list change-list changes w",
      (store) => store.insertWorkspace({ id: WORKSPACE, name: "it", enabled: true, epoch: 0 }, LOG),
    ],
    [
      "setWorkspaceEnabled",
      "change-list changes w",
      (store) => store.setWorkspaceEnabled(WORKSPACE, true, LOG),
    ],
    [
      "addVerifications",
      "key-hashes last-used v verification-days",
      (store) => store.addVerifications(WORKSPACE, COUNTS),
    ],
    [
      "deleteVerifications",
      "v verification-days",
      (store) => store.deleteVerifications(WORKSPACE, DAYS_LATER, 9),
    ],
    ["deleteChanges", "change-list changes", (store) => store.deleteChanges(WORKSPACE, "z", 9)],
    ["charge", "i k w", (store, [, alone]) => store.charge(planOf(alone))],
    [
      "charge of shared counters",
      "c i k uses w",
      (store, [rotated]) => store.charge(planOf(rotated)),
    ],
    ["takeFromNamespace", "n", (store) => store.takeFromNamespace(namespacePlan)],
  ];

  test.each(calls)(
    "%s is answered as ever, or refused with nothing written",
    async (_, names, call) => {
      const refusing: string[] = [];
      for (const name of [...whole.keys(), ...NOT_YET]) {
        await control.del(name);
        await control.lpush(name, "planted");
        const before = await dump(control);
        const error = await call(store, keys).then(
          () => null,
          (reason: unknown) => reason,
        );
        if (error !== null) {
          refusing.push(name.split(":")[2] as string);
          expect(error).toMatchObject({ code: "STORE_CORRUPT" });
          expect(await dump(control), name).toEqual(before);
        }
        await putBack(control, whole);
      }
      expect(refusing.toSorted().join(" ")).toBe(names);
    },
  );
});
