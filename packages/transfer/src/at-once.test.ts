import { describe, expect, test } from "vitest";
import { withEach } from "./at-once.js";

/** Lets everything run that is ready. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("something done with each workspace", () => {
  test("runs with some at the same time, and returns the results in order", async () => {
    let [running, most] = [0, 0];
    const results = await withEach(
      Array.from({ length: 45 }, (_, at) => at).values(),
      async (at) => {
        running += 1;
        most = Math.max(most, running);
        for (let left = at % 3; left >= 0; left -= 1) await turn();
        running -= 1;
        return at;
      },
    );
    expect(results).toEqual(Array.from({ length: 45 }, (_, at) => at));
    expect(most).toBe(20);
  });

  test("fails only after everything that was begun has ended, and begins nothing more", async () => {
    const ended: number[] = [];
    const doing = withEach(
      Array.from({ length: 45 }, (_, at) => at),
      async (at) => {
        if (at === 3) throw new Error("the third");
        await turn();
        ended.push(at);
      },
    );
    await expect(doing).rejects.toThrow("the third");
    expect(ended).toHaveLength(19);
  });
});
