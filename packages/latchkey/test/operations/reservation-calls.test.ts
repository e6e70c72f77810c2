import { interceptStore, type StoreMethod } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { expect, test } from "vitest";
import { describeOnMemory, issue } from "../test-context.js";

describeOnMemory("a reservation of a key in use", (open) => {
  test.each([
    ["without a refill", {}],
    ["with a refill", { refill: { interval: "daily", amount: 5 } as const }],
  ])("%s takes one call of the store, and settling it another", async (_, fields) => {
    const calls: StoreMethod[] = [];
    const store = interceptStore(memoryStore(), ({ method }, run) => {
      calls.push(method);
      return run();
    });
    const context = open({ store, usage: false });
    const { latchkey } = context;
    const { key } = await issue(context, { remaining: 10, ...fields });
    await latchkey.verifyKey({ key });
    calls.length = 0;
    const verdict = await latchkey.reserve({ key, remaining: { cost: 4 } });
    const reservationId = verdict.code === "VALID" ? verdict.reservationId : "";
    await latchkey.settle({ reservationId, remaining: { cost: 1 } });
    expect(calls).toEqual(["charge", "settle"]);
    await latchkey.renew({ reservationId }).catch(() => undefined);
    expect(calls).toEqual(["charge", "settle", "settle"]);
  });
});
