import { createLatchkey, EMPTY_CHANGE, type KeyStore } from "@latchkey/core";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { unclosed, wrapped } from "./wrapped-store.js";

/** A store that loses the first pointer to a root key as soon as it is written, like one that fails over. */
function losingPointer(store: KeyStore): KeyStore {
  let isLost = false;
  return wrapped(store, {
    commit: async (workspaceId, change) => {
      const result = await store.commit(workspaceId, change);
      const pointer = change.puts.find(({ record }) => record.kind === "rootKeyPointer");
      if (pointer === undefined || isLost) return result;
      isLost = true;
      const { kind, id } = pointer.record;
      await store.commit(workspaceId, { ...EMPTY_CHANGE, deletes: [{ kind, id }] });
      return result;
    },
  });
}

describeOnEveryStore("a root key whose pointer the store lost while it was created", (open) => {
  test.each(["created", "rotated"] as const)("can be found once it is %s", async (how) => {
    const { store, latchkey } = open();
    const permissions = ["api.*.read_api"];
    const old = how === "created" ? null : await latchkey.createRootKey({ permissions });
    const other = createLatchkey({ store: unclosed(losingPointer(store)) });
    const made = await (old === null
      ? other.createRootKey({ permissions })
      : other.rotateRootKey({ rootKeyId: old.rootKeyId, graceMs: 0 }));
    expect(await latchkey.authenticateRootKey(made.key)).toMatchObject({
      kind: "authenticated",
      rootKeyId: made.rootKeyId,
    });
    await other.close();
  });
});
