import { expect } from "vitest";
import { expectRefused, HOUR_MS } from "../test-context.js";
import type { Journey } from "./journey.js";

/** createRootKey, authenticateRootKey, listRootKeys, updateRootKey, rotateRootKey, revokeRootKey. */
export const ROOT_KEYS: Journey = {
  resource: "root keys",
  title: "speak for their workspace until they expire or are revoked, in every process at once",
  async run(context) {
    const { latchkey } = context;
    const other = context.another();
    const pier = latchkey.workspace("ws_pier");
    const permissions = ["api.*.create_key", "identity.*.read_identity"];
    const deploys = await pier.createRootKey({ permissions, name: "deploys" });
    const expires = context.now() + HOUR_MS;
    const expiring = await pier.createRootKey({ permissions: ["*"], expires });
    await expectRefused("BAD_REQUEST", [pier.createRootKey({ permissions: ["api.*.fly"] })]);
    expect(await other.authenticateRootKey(deploys.key)).toEqual({
      kind: "authenticated",
      rootKeyId: deploys.rootKeyId,
      workspaceId: "ws_pier",
      permissions,
    });
    expect(await other.authenticateRootKey(expiring.key)).toMatchObject({ kind: "authenticated" });

    const first = await pier.listRootKeys({ limit: 1 });
    expect(first).toMatchObject({ rootKeys: [{ id: deploys.rootKeyId }], total: 2 });
    const cursor = first.cursor as string;
    const second = await other.workspace("ws_pier").listRootKeys({ limit: 1, cursor });
    expect(second).toMatchObject({ rootKeys: [{ id: expiring.rootKeyId }], total: 2 });
    await expectRefused("BAD_REQUEST", [other.listRootKeys({ cursor })]);

    context.advance(HOUR_MS);
    expect(await other.authenticateRootKey(expiring.key)).toEqual({ kind: "refused" });
    await pier.updateRootKey({ rootKeyId: deploys.rootKeyId, permissions: ["api.*.read_api"] });
    expect(await other.authenticateRootKey(deploys.key)).toMatchObject({
      permissions: ["api.*.read_api"],
    });
    await expectRefused("PRECONDITION_FAILED", [
      pier.rotateRootKey({ rootKeyId: expiring.rootKeyId }),
    ]);
    await expectRefused("NOT_FOUND", [
      latchkey.updateRootKey({ rootKeyId: deploys.rootKeyId, name: "x" }),
      latchkey.rotateRootKey({ rootKeyId: deploys.rootKeyId }),
    ]);
    const rotations = await Promise.allSettled(
      [pier, other.workspace("ws_pier")].map((one) =>
        one.rotateRootKey({ rootKeyId: deploys.rootKeyId, graceMs: HOUR_MS }),
      ),
    );
    const rotated = rotations.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(rotated).toHaveLength(1);
    const [next = { rootKeyId: "", key: "" }] = rotated;
    for (const key of [deploys.key, next.key])
      expect(await other.authenticateRootKey(key)).toMatchObject({ kind: "authenticated" });
    await expectRefused("PRECONDITION_FAILED", [
      pier.updateRootKey({ rootKeyId: deploys.rootKeyId, expires: null }),
    ]);
    context.advance(HOUR_MS);
    expect(await other.authenticateRootKey(deploys.key)).toEqual({ kind: "refused" });
    expect(await other.authenticateRootKey(next.key)).toMatchObject({
      kind: "authenticated",
      rootKeyId: next.rootKeyId,
      permissions: ["api.*.read_api"],
    });
    await pier.revokeRootKey({ rootKeyId: deploys.rootKeyId });
    const { rootKeyId } = next;
    await expectRefused("NOT_FOUND", [latchkey.revokeRootKey({ rootKeyId })]);
    const outcomes = await Promise.allSettled(
      [pier, other.workspace("ws_pier"), pier].map((one) => one.revokeRootKey({ rootKeyId })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await other.authenticateRootKey(next.key)).toEqual({ kind: "refused" });
    expect(await pier.listRootKeys()).toMatchObject({
      rootKeys: [{ id: expiring.rootKeyId, enabled: false }],
      total: 1,
    });
  },
};
