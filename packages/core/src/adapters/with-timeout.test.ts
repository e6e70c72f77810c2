import { expect, onTestFinished, test, vi } from "vitest";
import { withTimeout } from "./with-timeout.js";

test("gives up also if a test has replaced setImmediate, or its environment has none, as jsdom", async () => {
  onTestFinished(() => void vi.useRealTimers());
  onTestFinished(() => void vi.unstubAllGlobals());
  const never = new Promise<never>(() => undefined);
  const late = () => new Error("too late");
  vi.useFakeTimers({ toFake: ["setImmediate"] });
  await expect(withTimeout(1, never, late)).rejects.toThrow("too late");
  vi.useRealTimers();
  vi.stubGlobal("setImmediate", undefined);
  await expect(withTimeout(1, never, late)).rejects.toThrow("too late");
});
