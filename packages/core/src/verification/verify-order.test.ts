import fc from "fast-check";
import { expect, test } from "vitest";
import type { KeyRecord, LoadedKey } from "../records/key.js";
import { applyCharge, type ChargeState } from "../store/charge.js";
import { limitNamed, loadedWith } from "../testing/records.js";
import { decideVerification, planCharge, type VerifyQuestion } from "./verify.js";

const NOW = 1_000_000;

/** Everything that one verification meets: records, question and counters. */
interface Scene {
  readonly key: Partial<KeyRecord>;
  readonly workspaceEnabled: boolean;
  readonly ipWhitelist: readonly string[];
  readonly question: VerifyQuestion;
  readonly used: number;
  readonly remaining: number;
}

/** A scene in which nothing is wrong. */
const flawless: Scene = {
  key: { ratelimits: [limitNamed("default", 10)] },
  workspaceEnabled: true,
  ipWhitelist: ["192.0.2.0/24"],
  question: { apiId: "api_1", address: "192.0.2.7", permissions: "docs.read", cost: 1, limits: [] },
  used: 0,
  remaining: 10,
};

/** Every check, in the order in which verify makes them, with what makes it fail and nothing else. */
const checks: readonly {
  readonly answer: string;
  /** Where another check has the same answer. */
  readonly check?: string;
  readonly fail: (scene: Scene) => Scene;
}[] = [
  { answer: "workspace-disabled", fail: (scene) => ({ ...scene, workspaceEnabled: false }) },
  { answer: "DISABLED", fail: (scene) => ({ ...scene, key: { ...scene.key, enabled: false } }) },
  {
    answer: "FORBIDDEN",
    check: "FORBIDDEN by its API",
    fail: (scene) => ({ ...scene, question: { ...scene.question, apiId: "api_2" } }),
  },
  { answer: "EXPIRED", fail: (scene) => ({ ...scene, key: { ...scene.key, expires: NOW } }) },
  {
    answer: "FORBIDDEN",
    check: "FORBIDDEN by its address",
    fail: (scene) => ({ ...scene, question: { ...scene.question, address: "192.0.3.7" } }),
  },
  {
    answer: "INSUFFICIENT_PERMISSIONS",
    fail: (scene) => ({ ...scene, question: { ...scene.question, permissions: "docs.write" } }),
  },
  {
    answer: "unknown-limits",
    fail: (scene) => {
      const unknown = { name: "nowhere", cost: 1, adHoc: null, isOptional: false };
      return { ...scene, question: { ...scene.question, limits: [unknown] } };
    },
  },
  { answer: "rate-limited", fail: (scene) => ({ ...scene, used: 10 }) },
  { answer: "usage-exceeded", fail: (scene) => ({ ...scene, remaining: 0 }) },
];

/** Decides and charges as a verification does, and names the answer. */
function answerTo(scene: Scene): string {
  const loaded: LoadedKey = loadedWith(scene.key, {
    api: { ...loadedWith().api, ipWhitelist: scene.ipWhitelist },
    workspace: { id: "ws_default", name: null, enabled: scene.workspaceEnabled, epoch: 0 },
    permissions: ["docs.read"],
  });
  const decision = decideVerification(loaded, scene.question, NOW);
  if (decision.kind === "refuse") return decision.code;
  if (decision.kind !== "charge") return decision.kind;
  const plan = planCharge(loaded, scene.question, decision, NOW);
  const state: ChargeState = {
    keyVersion: 1,
    identityVersion: null,
    epoch: 0,
    usage: { remaining: scene.remaining, refilledAt: 0 },
    windows: plan.limits.map(() => ({ startedAt: 960_000, used: scene.used })),
  };
  return applyCharge(state, plan).result.kind;
}

const pairs = checks.flatMap((earlier, index) =>
  checks.slice(index + 1).map((later) => ({
    earlier,
    later,
    first: earlier.check ?? earlier.answer,
    second: later.check ?? later.answer,
  })),
);

test("a verification in which nothing is wrong is charged", () => {
  expect(answerTo(flawless)).toBe("charged");
});

test.each(checks)("when one check alone fails, it answers: $answer", ({ answer, fail }) => {
  expect(answerTo(fail(flawless))).toBe(answer);
});

test.each(pairs)("$first answers before $second", ({ earlier, later }) => {
  expect(answerTo(later.fail(earlier.fail(flawless)))).toBe(earlier.answer);
});

test("whatever fails at once, the earliest of the order answers", () => {
  fc.assert(
    fc.property(fc.subarray([...checks], { minLength: 1 }), (failing) => {
      const scene = failing.reduce((before, { fail }) => fail(before), flawless);
      expect(answerTo(scene)).toBe(failing[0]?.answer);
    }),
    { numRuns: 300 },
  );
});
