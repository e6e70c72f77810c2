import { expect, test } from "vitest";
import { describeOnMemory, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("root keys", (open) => {
  test("authorise calls in their workspace with their permissions", async () => {
    const { latchkey } = open();
    const permissions = ["api.*.create_key", "identity.*.read_identity"];
    const { key, rootKeyId } = await latchkey
      .workspace("ws_pier")
      .createRootKey({ permissions, name: "deploys" });
    expect(await latchkey.authenticateRootKey(key)).toEqual({
      kind: "authenticated",
      rootKeyId,
      workspaceId: "ws_pier",
      permissions,
    });
  });

  test("stop working at the instant of their expiry", async () => {
    const context = open();
    const { key } = await context.latchkey.createRootKey({ permissions: ["*"], expires: NOON + 5 });
    context.setClock(NOON + 4);
    expect(await context.latchkey.authenticateRootKey(key)).toMatchObject({
      kind: "authenticated",
    });
    context.setClock(NOON + 5);
    expect(await context.latchkey.authenticateRootKey(key)).toEqual({ kind: "refused" });
  });

  test("authorise nothing while their workspace is disabled", async () => {
    const { latchkey } = open();
    const { key } = await latchkey.createRootKey({ permissions: ["*"] });
    await latchkey.setWorkspaceEnabled(false);
    expect(await latchkey.authenticateRootKey(key)).toEqual({ kind: "workspace-disabled" });
    await latchkey.setWorkspaceEnabled(true);
    expect(await latchkey.authenticateRootKey(key)).toMatchObject({ kind: "authenticated" });
  });

  test("are no keys of an API, and keys of an API are no root keys", async () => {
    const { latchkey } = open();
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    await latchkey.createPermission({ name: "*" });
    const { key } = await latchkey.createKey({ apiId, permissions: ["*"] });
    const { key: rootKey } = await latchkey.createRootKey({ permissions: ["*"] });
    expect(await latchkey.authenticateRootKey(key)).toEqual({ kind: "refused" });
    expect(await latchkey.verifyKey({ key: rootKey })).toEqual({ valid: false, code: "NOT_FOUND" });
  });

  test.each([undefined, null, [], {}, 7, Symbol("token")])("are not %s", async (token) => {
    const { latchkey } = open();
    expect(await latchkey.authenticateRootKey(token as never)).toEqual({ kind: "refused" });
  });

  test("need at least one permission, and only known ones", async () => {
    const { latchkey } = open();
    expect(await rejectionOf(latchkey.createRootKey({ permissions: [] }))).toMatchObject({
      code: "BAD_REQUEST",
    });
    const error = await rejectionOf(
      latchkey.createRootKey({
        permissions: ["api.*.create_key", "api.*.fly", "rbac.x_1.create_role"],
        expires: NOON,
      }),
    );
    expect(error.issues).toEqual([
      {
        path: "permissions.1",
        message: expect.stringMatching(/^must end with an action of api: create_api, read_api, /),
      },
      { path: "permissions.2", message: 'must have "*" between rbac and create_role' },
      { path: "expires", message: "must be later than now" },
    ]);
  });
});

describeOnMemory("root keys that change", (open) => {
  test("can get nothing that createRootKey would refuse", async () => {
    const { latchkey } = open();
    const { rootKeyId } = await latchkey.createRootKey({ permissions: ["api.*.read_api"] });
    const before = await latchkey.listRootKeys();
    for (const input of [
      { permissions: [] },
      { permissions: ["api.*.fly"] },
      { permissions: Array.from({ length: 1_001 }, (_, index) => `api.api_${index}.read_api`) },
      { permissions: null },
      { expires: NOON },
      { name: "" },
      { name: "x".repeat(257) },
      { enabled: true },
      { rotatedTo: null },
      { hash: "00" },
    ])
      expect(
        await rejectionOf(latchkey.updateRootKey({ rootKeyId, ...input } as never)),
      ).toMatchObject({ code: "BAD_REQUEST" });
    for (const input of [
      { graceMs: -1 },
      { graceMs: 365 * 86_400_000 + 1 },
      { permissions: ["*"] },
      { expires: NOON + 1 },
    ])
      expect(
        await rejectionOf(latchkey.rotateRootKey({ rootKeyId, ...input } as never)),
      ).toMatchObject({ code: "BAD_REQUEST" });
    expect(await latchkey.listRootKeys()).toEqual(before);
  });

  test("authorise what the last update grants, without repetitions", async () => {
    const { latchkey } = open();
    const { rootKeyId, key } = await latchkey.createRootKey({ permissions: ["*"], name: "ops" });
    const permissions = ["api.*.read_api", "api.*.read_key", "api.*.read_api"];
    await latchkey.updateRootKey({ rootKeyId, permissions, expires: NOON + 5 });
    expect(await latchkey.authenticateRootKey(key)).toMatchObject({
      permissions: permissions.slice(0, 2),
    });
    const [updated] = (await latchkey.listRootKeys()).rootKeys;
    expect(updated).toMatchObject({ name: "ops", expires: NOON + 5 });
    await latchkey.updateRootKey({ rootKeyId, name: null, expires: null });
    const [cleared] = (await latchkey.listRootKeys()).rootKeys;
    expect(cleared).not.toHaveProperty("name");
    expect(cleared).not.toHaveProperty("expires");
  });

  test("cannot outlive their expiry by a rotation", async () => {
    const { latchkey, setClock } = open();
    const expires = NOON + 5;
    const { rootKeyId, key } = await latchkey.createRootKey({ permissions: ["*"], expires });
    const next = await latchkey.rotateRootKey({ rootKeyId, graceMs: "1h" });
    const { rootKeys } = await latchkey.listRootKeys();
    expect(rootKeys).toMatchObject([{ expires, rotatedTo: next.rootKeyId }, { expires }]);
    setClock(NOON + 5);
    for (const token of [key, next.key])
      expect(await latchkey.authenticateRootKey(token)).toEqual({ kind: "refused" });
  });

  test("stay disabled after a leak, and so does their successor", async () => {
    const { latchkey } = open();
    const { rootKeyId, key } = await latchkey.createRootKey({ permissions: ["*"] });
    await latchkey.reportLeaks({ leaks: [{ key, source: "a log" }], policy: "disable" });
    await latchkey.updateRootKey({ rootKeyId, permissions: ["api.*.read_api"] });
    const next = await latchkey.rotateRootKey({ rootKeyId, graceMs: "1h" });
    for (const token of [key, next.key])
      expect(await latchkey.authenticateRootKey(token)).toEqual({ kind: "refused" });
  });

  test("are rotated once by a repeated call, and the secret is shown once", async () => {
    const { latchkey } = open();
    const { rootKeyId } = await latchkey.createRootKey({ permissions: ["*"] });
    const input = { rootKeyId, idempotencyKey: "rotation-7" };
    const { key = "", ...shown } = await latchkey.rotateRootKey(input);
    expect(await latchkey.authenticateRootKey(key)).toMatchObject(shown);
    expect(await latchkey.rotateRootKey(input)).toEqual({ ...shown, secretShownBefore: true });
    expect(await latchkey.listRootKeys()).toMatchObject({ total: 2 });
  });
});

describeOnMemory("workspaces", (open) => {
  test.each(["false", 0, 1, undefined, null, {}])(
    "cannot be enabled or disabled with %j",
    async (enabled) => {
      const { latchkey } = open();
      const error = await rejectionOf(latchkey.setWorkspaceEnabled(enabled as never));
      expect(error).toMatchObject({ code: "BAD_REQUEST" });
      expect(await latchkey.isWorkspaceEnabled()).toBe(true);
    },
  );

  test("are invisible to each other", async () => {
    const { latchkey } = open();
    const other = latchkey.workspace("ws_other");
    const { apiId } = await latchkey.createApi({ name: "tide tables" });
    const { keyId } = await latchkey.createKey({ apiId });
    const foreign = [
      other.getApi({ apiId }),
      other.getKey({ keyId }),
      other.listKeys({ apiId }),
      other.updateKey({ keyId, name: "taken over" }),
      other.updateRemaining({ keyId, op: "set", value: 1 }),
      other.deleteKey({ keyId }),
    ];
    for (const error of await Promise.all(foreign.map(rejectionOf)))
      expect(error).toMatchObject({ code: "NOT_FOUND" });
    await latchkey.createRole({ name: "pilot" });
    await other.createRole({ name: "pilot" });
    expect(await rejectionOf(latchkey.createRole({ name: "pilot" }))).toMatchObject({
      code: "CONFLICT",
    });
  });
});
