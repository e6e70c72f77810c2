import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { MIDNIGHT, team } from "./team.js";

const GRANTED = 40;
const ROUNDS = 12;

describeOnEveryStore("updateRemaining of an identity", (open) => {
  test("is exact during verifications of its keys: no use is lost or given twice", async () => {
    const context = open();
    const { latchkey } = context;
    const { identityId, one, two } = await team(context, { remaining: GRANTED });
    const processes = [latchkey, context.another()] as const;
    let [admitted, given, taken] = [0, 0, 0];
    const verify = async (at: number) => {
      const process = processes[(at % 2) as 0 | 1];
      for (let round = 0; round < 3 * ROUNDS; round += 1) {
        const { key } = round % 2 === 0 ? one : two;
        const cost = 1 + (round % 2);
        const verdict = await process.verifyKey({ key, remaining: { cost } });
        if (verdict.valid) admitted += cost;
      }
    };
    const raise = async (process: (typeof processes)[number]) => {
      for (let value = 1; value <= ROUNDS; value += 1) {
        await process.updateRemaining({ identityId, op: "increment", value });
        given += value;
      }
    };
    const lower = async () => {
      for (let value = 1; value <= ROUNDS; value += 1)
        try {
          await processes[1].updateRemaining({ externalId: "team", op: "decrement", value });
          taken += value;
        } catch (error) {
          expect(error).toMatchObject({ reason: "insufficient-uses" });
        }
    };
    await Promise.all([verify(0), verify(1), raise(processes[0]), raise(processes[1]), lower()]);

    expect(admitted).toBeGreaterThan(0);
    const { remaining } = await context.another().getIdentity({ identityId });
    expect(remaining).toBe(GRANTED + given - admitted - taken);
    const rest = await latchkey.updateRemaining({ identityId, op: "set", value: 0 });
    expect(rest).toEqual({ remaining: 0 });
    expect(await processes[1].verifyKey({ key: one.key })).toMatchObject({
      code: "USAGE_EXCEEDED",
    });
  });

  test("first applies a due refill once, and returns the uses left", async () => {
    const context = open();
    const { latchkey } = context;
    const refill = { interval: "daily", amount: 9 } as const;
    const { identityId, one } = await team(context, { remaining: 5, refill });
    context.setClock(MIDNIGHT);
    const raised = [latchkey, context.another()].map((process) =>
      process.updateRemaining({ identityId, op: "increment", value: 2 }),
    );
    const answers = (await Promise.all(raised)).map(({ remaining }) => remaining);
    expect(answers.sort()).toEqual([11, 13]);
    expect(await latchkey.verifyKey({ key: one.key })).toMatchObject({ remaining: 12 });
    expect(await latchkey.updateRemaining({ identityId, op: "set", value: null })).toEqual({});
    expect(await context.another().getIdentity({ identityId })).not.toHaveProperty("refill");
    expect(await context.another().verifyKey({ key: one.key })).not.toHaveProperty("remaining");
  });
});
