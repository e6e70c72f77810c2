import { expect, test } from "vitest";
import { describeOnEveryStore } from "../every-store.js";
import { losingReplies } from "./losing-replies.js";

describeOnEveryStore("an input completed from the typed one", (open) => {
  test("W1: a repetition uses the input completed by the first call, wherever that was interrupted", async () => {
    const context = open();
    const { latchkey } = context;
    const again = context.another();
    for (const way of ["lost", "never came"] as const)
      for (let at = 0; ; at += 1) {
        const { apiId } = await latchkey.createApi({ name: "payments" });
        await latchkey.createKey({ apiId });
        const losing = losingReplies(context.store, at, way);
        const typed = { apiId: "payments", idempotencyKey: `${way} ${at}` };
        const made: unknown[] = [];
        const complete = async (first: object | null) => {
          made.push(first);
          return { apiId };
        };
        const first = context.another({ store: losing.store });
        await first.deleteApi(typed, { complete }).catch(() => undefined);
        const isBroken = losing.hasLost();
        for (const _ of ["the repeat", "another one"])
          expect(await again.deleteApi(typed, { complete })).toEqual({});
        expect(made.at(-1)).toEqual({ apiId });
        expect((await latchkey.listApis()).total).toBe(0);
        if (!isBroken) break;
      }
  });

  test("W1: a refused call leaves no completed input for its repetition", async () => {
    const { latchkey } = open();
    const typed = { apiId: "payments", idempotencyKey: "one" };
    const completing = (apiId: string) => async (first: object | null) => {
      expect(first).toBeNull();
      return { apiId };
    };
    const refused = latchkey.createKey(typed, { complete: completing("api_none") });
    await expect(refused).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const { keyId } = await latchkey.createKey(typed, { complete: completing(apiId) });
    expect((await latchkey.getKey({ keyId })).apiId).toBe(apiId);
  });
});
