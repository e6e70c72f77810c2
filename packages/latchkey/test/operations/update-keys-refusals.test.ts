import { expect, test } from "vitest";
import { describeOnMemory, issue, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("a refusal of updateKeys", (open) => {
  test.each([
    ["startsAt", "the setting", { startsAt: NOON + 5 }, { expires: NOON + 5 }, "startsAt"],
    ["refill", "the setting", { refill: { interval: "daily", amount: 1 } }, {}, "refill"],
    ["usesFrom", "the setting", { usesFrom: "identity" }, {}, "usesFrom"],
    ["a deleted key", "the position, as no setting is the cause", { name: "b" }, null, "keyIds.1"],
  ] as const)(
    "because of %s has %s in details.field, and changes no key",
    async (_, __, fields, settings, field) => {
      const context = open();
      const { latchkey } = context;
      const owner = { externalId: "customer_42", expires: NOON + 60_000, remaining: 1 };
      const first = await issue(context, owner);
      const { keyId } = await issue(context, settings ?? {});
      if (settings === null) await latchkey.deleteKey({ keyId });
      const keyIds = [first.keyId, keyId];
      const error = await rejectionOf(latchkey.updateKeys({ keyIds, ...fields }));
      expect(error).toMatchObject({ details: { keyId, field } });
      expect((error as Error).message).toMatch(/^"keyIds\.1": /);
      expect(await latchkey.getKey({ keyId: first.keyId })).not.toHaveProperty("updatedAt");
    },
  );
});
