import type { NamespacePlan } from "@latchkey/core";
import { expect, test } from "vitest";
import { Namespaces } from "./namespaces.js";

const PLAN: NamespacePlan = {
  workspaceId: "ws_1",
  namespace: "mail",
  identifier: "user 1",
  limit: 1,
  durationMs: 60_000,
  cost: 1,
  now: 600_000,
};

test("a namespace and an identifier are told apart, whatever characters they hold", () => {
  const namespaces = new Namespaces();
  const plans = [
    { ...PLAN, namespace: "a b", identifier: "c" },
    { ...PLAN, namespace: "a", identifier: "b c" },
    { ...PLAN, namespace: "3 a b", identifier: "c" },
    { ...PLAN, namespace: "a", identifier: "3 b c" },
  ];
  for (const plan of plans) expect(namespaces.take(plan).kind).toBe("admit");
  for (const plan of plans) expect(namespaces.take(plan).kind).toBe("refuse");
});

test("the window that is handed out cannot be changed, so that the one that is kept is not", () => {
  const namespaces = new Namespaces();
  const { window } = namespaces.take(PLAN);
  expect(() => Object.assign(window, { used: 0 })).toThrow(TypeError);
  expect(namespaces.take(PLAN)).toEqual({
    kind: "refuse",
    window: { startedAt: 600_000, used: 1 },
  });
});
