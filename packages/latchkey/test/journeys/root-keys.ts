import { expect } from "vitest";
import { expectRefused, HOUR_MS } from "../test-context.js";
import type { Journey } from "./journey.js";

/** createRootKey, authenticateRootKey, listRootKeys, revokeRootKey. */
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
    const { rootKeyId } = deploys;
    await expectRefused("NOT_FOUND", [latchkey.revokeRootKey({ rootKeyId })]);
    const outcomes = await Promise.allSettled(
      [pier, other.workspace("ws_pier"), pier].map((one) => one.revokeRootKey({ rootKeyId })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await other.authenticateRootKey(deploys.key)).toEqual({ kind: "refused" });
    expect(await pier.listRootKeys()).toMatchObject({
      rootKeys: [{ id: expiring.rootKeyId, enabled: false }],
      total: 1,
    });
  },
};
