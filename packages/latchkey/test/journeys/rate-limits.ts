import { expect } from "vitest";
import { expectRefused, HOUR_MS, NOON } from "../test-context.js";
import type { Journey } from "./journey.js";

const login = { namespace: "login", identifier: "192.0.2.7", limit: 17, duration: HOUR_MS };

/** limit. */
export const RATE_LIMITS: Journey = {
  resource: "rate limits",
  title: "admit exactly the limit in each window, through all processes together",
  async run(context) {
    const { latchkey } = context;
    const other = context.another();
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? latchkey : other).limit(login)),
    );
    const left = outcomes.filter(({ success }) => success).map(({ remaining }) => remaining);
    expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: 17 }, (_, at) => at));
    const refused = { success: false, limit: 17, remaining: 0, reset: NOON + HOUR_MS };
    expect(await latchkey.limit(login)).toEqual(refused);
    for (const free of [
      other.limit({ ...login, identifier: "192.0.2.8" }),
      other.limit({ ...login, namespace: "logout" }),
      other.workspace("ws_other").limit(login),
    ])
      expect(await free).toMatchObject({ success: true, remaining: 16 });

    context.setClock(NOON + HOUR_MS - 1);
    expect(await other.limit({ ...login, cost: 0 })).toMatchObject({ remaining: 0 });
    context.setClock(NOON + HOUR_MS);
    expect(await other.limit({ ...login, cost: 16 })).toMatchObject({ remaining: 1 });
    expect(await latchkey.limit({ ...login, cost: 2 })).toMatchObject({
      success: false,
      remaining: 1,
    });
    await expectRefused("BAD_REQUEST", [latchkey.limit({ ...login, limit: 0 })]);
  },
};
