import fc from "fast-check";
import { expect, test } from "vitest";
import { createExclusive, yieldToEventLoop } from "./promises.js";

/** Resolves after this many turns of the microtask queue. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await null;
}

test("work of one name runs alone, in the order in which it was submitted", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name: fc.constantFrom("a", "b"), turns: fc.nat({ max: 5 }) })),
      async (works) => {
        const exclusive = createExclusive();
        const running = new Map<string, number>();
        const order: number[] = [];
        await Promise.all(
          works.map((work, index) =>
            exclusive(work.name, async () => {
              expect(running.get(work.name) ?? 0).toBe(0);
              running.set(work.name, 1);
              order.push(index);
              await turns(work.turns);
              running.set(work.name, 0);
            }),
          ),
        );
        for (const name of ["a", "b"]) {
          const ofName = order.filter((index) => works[index]?.name === name);
          expect(ofName).toEqual([...ofName].sort((one, other) => one - other));
        }
        expect(order).toHaveLength(works.length);
      },
    ),
  );
});

test("each caller gets the result of its own work", async () => {
  const exclusive = createExclusive();
  const results = await Promise.all([1, 2, 3].map((value) => exclusive("a", async () => value)));
  expect(results).toEqual([1, 2, 3]);
});

test("work of another name does not wait", async () => {
  const exclusive = createExclusive();
  let release = () => {};
  const blocked = exclusive("a", () => new Promise<void>((resolve) => (release = resolve)));
  expect(await exclusive("b", async () => "done")).toBe("done");
  release();
  await blocked;
});

test("work that fails fails its own caller, and the next still runs", async () => {
  const exclusive = createExclusive();
  const failing = exclusive("a", async () => {
    throw new Error("broken");
  });
  const next = exclusive("a", async () => "done");
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("done");
});

test("work that throws at once fails its own caller too", async () => {
  const exclusive = createExclusive();
  const failing = exclusive("a", () => {
    throw new Error("at once");
  });
  await expect(failing).rejects.toThrow("at once");
  expect(await exclusive("a", async () => "done")).toBe("done");
});

test("work that is submitted while other work runs waits for it, even if that was the last", async () => {
  const exclusive = createExclusive();
  const order: string[] = [];
  const first = exclusive("a", async () => {
    await turns(3);
    order.push("first");
  });
  await turns(1);
  const second = exclusive("a", async () => order.push("second"));
  await first;
  await exclusive("a", async () => order.push("third"));
  await second;
  expect(order).toEqual(["first", "second", "third"]);
});

test("work that yields lets others through, also from where Node.js goes on to due timers at once", async () => {
  const order: string[] = [];
  await new Promise<void>((resolve) =>
    setImmediate(() => {
      setImmediate(() => order.push("others"));
      void yieldToEventLoop().then(() => {
        order.push("this work");
        resolve();
      });
      for (const until = performance.now() + 5; performance.now() < until; );
    }),
  );
  expect(order).toEqual(["others", "this work"]);
});
