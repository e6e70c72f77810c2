import fc from "fast-check";
import { expect, test } from "vitest";
import type { KeyRecord } from "../records/key.js";
import { applyCharge, type ChargeState } from "../store/charge.js";
import { limitNamed, loadedWith, usageOf } from "../testing/records.js";
import { judgeRecords } from "./judge.js";
import { decideLimits } from "./limit-precedence.js";
import type { LoadedKey } from "./loaded-key.js";
import { planCharge } from "./plan.js";
import type { VerifyQuestion } from "./question.js";

const NOW = 1_000_000;

/** All inputs of a verification: records, question and counters. */
interface Setup {
  readonly key: Partial<KeyRecord>;
  readonly workspaceEnabled: boolean;
  readonly ipWhitelist: readonly string[];
  readonly question: VerifyQuestion;
  readonly used: number;
  readonly remaining: number;
}

/** A setup in which nothing is wrong. */
const flawless: Setup = {
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
  /** Present if another check has the same answer. */
  readonly check?: string;
  readonly fail: (setup: Setup) => Setup;
}[] = [
  { answer: "workspace-disabled", fail: (setup) => ({ ...setup, workspaceEnabled: false }) },
  { answer: "DISABLED", fail: (setup) => ({ ...setup, key: { ...setup.key, enabled: false } }) },
  {
    answer: "FORBIDDEN",
    check: "FORBIDDEN by its API",
    fail: (setup) => ({ ...setup, question: { ...setup.question, apiId: "api_2" } }),
  },
  {
    answer: "FORBIDDEN",
    check: "FORBIDDEN by its environment",
    fail: (setup) => ({ ...setup, question: { ...setup.question, environment: "live" } }),
  },
  { answer: "EXPIRED", fail: (setup) => ({ ...setup, key: { ...setup.key, expires: NOW } }) },
  {
    answer: "NOT_STARTED",
    fail: (setup) => ({ ...setup, key: { ...setup.key, startsAt: NOW + 1 } }),
  },
  {
    answer: "FORBIDDEN",
    check: "FORBIDDEN by its address",
    fail: (setup) => ({ ...setup, question: { ...setup.question, address: "192.0.3.7" } }),
  },
  {
    answer: "INSUFFICIENT_PERMISSIONS",
    fail: (setup) => ({ ...setup, question: { ...setup.question, permissions: "docs.write" } }),
  },
  {
    answer: "unknown-limits",
    fail: (setup) => {
      const unknown = { name: "nowhere", cost: 1, adHoc: null, isOptional: false };
      return { ...setup, question: { ...setup.question, limits: [unknown] } };
    },
  },
  { answer: "rate-limited", fail: (setup) => ({ ...setup, used: 10 }) },
  { answer: "usage-exceeded", fail: (setup) => ({ ...setup, remaining: 0 }) },
];

/** Decides and charges as a verification does, and names the answer. */
function answerTo(setup: Setup): string {
  const loaded: LoadedKey = loadedWith(setup.key, {
    api: { ...loadedWith().api, ipWhitelist: setup.ipWhitelist },
    workspace: { id: "ws_default", name: null, enabled: setup.workspaceEnabled, version: 1 },
    permissions: ["docs.read"],
  });
  const refusal = judgeRecords(loaded, setup.question, NOW);
  if (refusal !== null) return refusal === "workspace-disabled" ? refusal : refusal.code;
  const { limits, unknown } = decideLimits(loaded, setup.question.limits);
  if (unknown.length > 0) return "unknown-limits";
  const plan = planCharge(loaded, setup.question.cost, limits);
  const state: ChargeState = {
    usage: usageOf(setup.remaining),
    windows: plan.limits.map(() => ({ at: 960_000, used: setup.used, earlier: [] })),
    remembered: null,
  };
  return applyCharge(state, plan, { now: NOW, refill: null }).result.kind;
}

const pairs = checks.flatMap((earlier, index) =>
  checks.slice(index + 1).map((later) => ({
    earlier,
    later,
    first: earlier.check ?? earlier.answer,
    second: later.check ?? later.answer,
  })),
);

test("a verification without any flaw is charged", () => {
  expect(answerTo(flawless)).toBe("charged");
});

test.each(checks)("when one check alone fails, it answers: $answer", ({ answer, fail }) => {
  expect(answerTo(fail(flawless))).toBe(answer);
});

test.each(pairs)("$first answers before $second", ({ earlier, later }) => {
  expect(answerTo(later.fail(earlier.fail(flawless)))).toBe(earlier.answer);
});

test("in any combination of failures, the earliest in order answers", () => {
  fc.assert(
    fc.property(fc.subarray([...checks], { minLength: 1 }), (failing) => {
      const setup = failing.reduce((before, { fail }) => fail(before), flawless);
      expect(answerTo(setup)).toBe(failing[0]?.answer);
    }),
    { numRuns: 300 },
  );
});
