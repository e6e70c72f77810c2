import { stat } from "node:fs";
import { expect, test } from "vitest";
import { createDeadline } from "./deadline.js";

test("the time of a request is not over if the result came while the process stood still", async () => {
  const within = createDeadline(50);
  const result = within(
    (_, settle) => stat(".", () => settle("result")),
    () => "late",
  );
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  expect(await result).toBe("result");
});
