import { expect, test } from "vitest";
import { inFlights } from "./flights.js";

/** Makes calls. Returns the largest number in flight at once, and the indexes in the order of their start. */
async function observe(calls: number, inFlight: number) {
  const started: number[] = [];
  let current = 0;
  let most = 0;
  await inFlights(calls, inFlight, async (index) => {
    started.push(index);
    current += 1;
    most = Math.max(most, current);
    await null;
    current -= 1;
  });
  return { started, most };
}

test("with one in flight, calls run one after the other", async () => {
  expect(await observe(4, 1)).toEqual({ started: [0, 1, 2, 3], most: 1 });
});

test("as many calls as asked for are in flight at once, and each is made once", async () => {
  const { started, most } = await observe(100, 8);
  expect(most).toBe(8);
  expect(started).toEqual(Array.from({ length: 100 }, (_, index) => index));
});

test("with fewer calls than flights, each call is made once", async () => {
  expect((await observe(3, 8)).started).toEqual([0, 1, 2]);
});

test("if one call fails, the whole run fails with its error", async () => {
  const failing = inFlights(10, 4, () => Promise.reject(new Error("wrong")));
  await expect(failing).rejects.toThrow("wrong");
});
