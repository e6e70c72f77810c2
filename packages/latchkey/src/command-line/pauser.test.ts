import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { pauser } from "./pauser.js";

test.each(["SIGTERM", "SIGINT"])("%s ends a pause, and every later one", async (signal) => {
  const signals = new EventEmitter();
  const pause = pauser(signals);
  expect(await pause(1)).toBe(true);
  const pausing = pause(60_000);
  signals.emit(signal);
  expect(await pausing).toBe(false);
  expect(await pause(60_000)).toBe(false);
});

test("a signal between two pauses is not lost, and the second one is left to the system", async () => {
  const signals = new EventEmitter();
  const pause = pauser(signals);
  expect(signals.eventNames()).toEqual([]);
  expect(await pause(1)).toBe(true);
  expect(signals.emit("SIGINT")).toBe(true);
  expect(signals.eventNames()).toEqual([]);
  expect(await pause(60_000)).toBe(false);
});
