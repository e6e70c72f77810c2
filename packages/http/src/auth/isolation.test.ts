import { memoryStore } from "@latchkey/memory";
import { describe, expect, test } from "vitest";
import { createFixture, type Fixture } from "../testing/fixture.js";
import { openService, type Reply } from "../testing/open-service.js";
import { recordingStore } from "../testing/recording-store.js";
import { SAMPLES } from "../testing/samples.js";

const NEVER: Fixture = {
  apiId: "api_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  keyId: "key_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  key: "pay_neverExisted",
  identityId: "id_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  externalId: "nobody",
  roleId: "role_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  rootKeyId: "root_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  permissionId: "perm_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
  permission: "docs.never",
  namespace: "never",
  reservationId: "rsv_2NEPo7TZRRrLZSi2U3T1x1aaaaa",
};

/** Two tenants of one store. `mine` has a root key for everything in its own workspace. */
async function open() {
  const calls: string[] = [];
  const service = await openService({ store: recordingStore(memoryStore(), calls) });
  const mine = service.latchkey.workspace("ws_mine");
  const { key: token } = await mine.createRootKey({ permissions: ["*"] });
  await mine.createApi({ name: "mine" });
  const theirs = await createFixture(service);
  return { service, mine, token, theirs, calls };
}

function comparable({ status, headers, text }: Reply) {
  const names = [...headers].filter(([name]) => name !== "x-request-id");
  return { status, headers: names, text: text.replace(/req_[A-Za-z0-9]+/g, "req") };
}

describe("records of another workspace are treated as if they did not exist", () => {
  const naming = SAMPLES.filter(({ names }) => names !== undefined);

  test.each(naming)(
    "$title: exists, deleted and never existed look the same and cost the same",
    async (sample) => {
      const { service, token, theirs, calls } = await open();
      const attempt = async (fixture: Fixture) => {
        calls.length = 0;
        const reply = await service.call(sample.name, sample.input(fixture), { token });
        return { ...comparable(reply), calls: [...calls] };
      };
      const before = await service.call("apis.listKeys", { apiId: theirs.apiId, decrypt: true });
      // The first attempt reads what the process caches: roles, permissions and APIs of the caller's own workspace.
      await attempt(NEVER);
      const exists = await attempt(theirs);
      expect(exists.status).toBe(404);
      expect(await attempt({ ...NEVER })).toEqual(exists);
      const after = await service.call("apis.listKeys", { apiId: theirs.apiId, decrypt: true });
      expect(after.body).toEqual(before.body);

      await service.ok("keys.deleteKey", { keyId: theirs.keyId });
      if (sample.names === "key") expect(await attempt(theirs)).toEqual(exists);
    },
  );

  test("keys.verifyKey: a secret of another workspace gets the verdict on an unknown secret, and is not charged", async () => {
    const { service, token, theirs } = await open();
    const { key } = await service.ok("keys.createKey", { apiId: theirs.apiId, remaining: 1 });
    const foreign = await service.call("keys.verifyKey", { key }, { token });
    const unknown = await service.call("keys.verifyKey", { key: NEVER.key }, { token });
    expect(foreign.body).toMatchObject({ valid: false, code: "NOT_FOUND" });
    expect(comparable(foreign)).toEqual(comparable(unknown));
    expect(Object.keys(foreign.body).sort()).toEqual(["code", "requestId", "valid"]);
    expect((await service.ok("keys.verifyKey", { key })).remaining).toBe(0);
  });

  test("an externalId of another workspace creates a separate identity", async () => {
    const { service, mine, token, theirs } = await open();
    const { apiId } = await mine.createApi({ name: "mine too" });
    await service.ok("keys.createKey", { apiId, externalId: theirs.externalId }, { token });
    const own = await service.ok("identities.getIdentity", { externalId: "user_1" }, { token });
    expect(own.id).not.toBe(theirs.identityId);
    expect((await service.ok("identities.listIdentities", {}, { token })).total).toBe(1);
    expect((await service.ok("identities.listIdentities", {})).total).toBe(1);
  });

  test("roles and permissions of another workspace do not exist", async () => {
    const { service, mine, token } = await open();
    await service.latchkey.createRole({ name: "admin" });
    await service.latchkey.createPermission({ name: "docs.read" });
    const { apiId } = await mine.createApi({ name: "mine too" });
    const input = { apiId, roles: ["admin"], permissions: ["docs.read"] };
    const { status, body } = await service.call("keys.createKey", input, { token });
    expect([status, body.error.code]).toEqual([412, "PRECONDITION_FAILED"]);
  });

  test("a cursor of another workspace starts no page there", async () => {
    const { service, token } = await open();
    await service.ok("identities.createIdentity", { externalId: "second" });
    const { cursor } = await service.ok("identities.listIdentities", { limit: 1 });
    const { status } = await service.call("identities.listIdentities", { cursor }, { token });
    expect(status).toBe(400);
  });
});

describe("only the token decides about the workspace", () => {
  const FORGED = {
    workspaceId: "ws_default",
    userId: "root",
    rootKey: "x",
    role: "admin",
    isAdmin: true,
    authorization: { workspaceId: "ws_default" },
    constructor: { prototype: { isAdmin: true } },
  };

  test.each(SAMPLES)("$title: no field of the request changes it", async ({ name, input }) => {
    const { service, token, theirs } = await open();
    for (const [field, value] of Object.entries(FORGED)) {
      // A filter there.
      if (field === "role" && name.endsWith(".listKeys")) continue;
      const reply = await service.call(name, { ...input(theirs), [field]: value }, { token });
      expect([field, reply.status]).toEqual([field, 400]);
    }
    const before = await service.call(name, input(NEVER), { token });
    for (const header of ["x-workspace-id", "x-user-id", "x-forwarded-user", "x-original-url"]) {
      const headers = { [header]: "ws_default", "x-http-method-override": "DELETE" };
      const reply = await service.call(name, input(theirs), { token, headers });
      expect(reply.body.workspaceId).not.toBe("ws_default");
      if (before.status === 404) expect(comparable(reply)).toEqual(comparable(before));
    }
  });
});
