import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadedWith } from "../testing/records.js";
import { RECORD_CHECKS, type RecordCheckName } from "./checks.js";
import { judgeRecords } from "./judge.js";
import type { LoadedKey } from "./loaded-key.js";
import { PLAIN_QUESTION, type VerifyQuestion } from "./question.js";

const NOW = 1_000_000;
const { api } = loadedWith();

/** What makes each check fail, and nothing else. */
const FAILURES: Readonly<
  Record<RecordCheckName, { key?: object; loaded?: object; question?: object }>
> = {
  enabled: { key: { enabled: false } },
  api: { question: { apiId: "api_2" } },
  environment: { question: { environment: "live" } },
  expiry: { key: { expires: NOW } },
  idle: { key: { createdAt: 0, expiresWhenUnused: NOW } },
  start: { key: { startsAt: NOW + 1 } },
  address: { loaded: { api: { ...api, ipWhitelist: ["192.0.2.7"] } } },
  permissions: { question: { permissions: "docs.read" } },
};

function withFailures(names: readonly RecordCheckName[]): [LoadedKey, VerifyQuestion] {
  const failures = names.map((name) => FAILURES[name]);
  const key = Object.assign({}, ...failures.map((failure) => failure.key));
  const loaded = Object.assign({}, ...failures.map((failure) => failure.loaded));
  const question = Object.assign({}, PLAIN_QUESTION, ...failures.map((one) => one.question));
  return [loadedWith(key, loaded), question];
}

test("the checks are made in one order", () => {
  expect(RECORD_CHECKS.map(({ name, code }) => [name, code])).toEqual([
    ["enabled", "DISABLED"],
    ["api", "FORBIDDEN"],
    ["environment", "FORBIDDEN"],
    ["expiry", "EXPIRED"],
    ["idle", "EXPIRED"],
    ["start", "NOT_STARTED"],
    ["address", "FORBIDDEN"],
    ["permissions", "INSUFFICIENT_PERMISSIONS"],
  ]);
});

test("a flawless key fails none", () => {
  expect(judgeRecords(loadedWith(), PLAIN_QUESTION, NOW)).toBeNull();
  const live = { ...PLAIN_QUESTION, environment: "live" };
  expect(judgeRecords(loadedWith({ environment: "live" }), live, NOW)).toBeNull();
  const used = loadedWith({ expiresWhenUnused: 500 }, { lastUsedAt: NOW - 499 });
  expect(judgeRecords(used, PLAIN_QUESTION, NOW)).toBeNull();
});

test("in any combination of failures, each check fails only for its own reason, and the first in order is reported", () => {
  const names = RECORD_CHECKS.map(({ name }) => name);
  fc.assert(
    fc.property(fc.subarray(names), (failing) => {
      // A span that begins with the start is not over before the start.
      fc.pre(!(failing.includes("idle") && failing.includes("start")));
      const [loaded, question] = withFailures(failing);
      const failed = RECORD_CHECKS.filter((check) => !check.passes(loaded, question, NOW));
      expect(failed.map(({ name }) => name)).toEqual(failing);
      expect(judgeRecords(loaded, question, NOW) ?? undefined).toBe(failed[0]);
    }),
  );
});

describe("the details of a check in a dry run", () => {
  const detailsOf = (name: RecordCheckName, loaded: LoadedKey, question: VerifyQuestion) =>
    RECORD_CHECKS.find((check) => check.name === name)?.details(loaded, question, NOW);

  test("are null if the key has no start and no span, and the question names no environment", () => {
    for (const name of ["start", "idle", "environment"] as const)
      expect(detailsOf(name, loadedWith(), PLAIN_QUESTION)).toBeNull();
  });

  test("are how long it takes until the key starts, and the environments that differ", () => {
    const startsAt = NOW + 5;
    const early = loadedWith({ startsAt, environment: "test" });
    expect(detailsOf("start", early, PLAIN_QUESTION)).toEqual({ startsAt, retryAfterMs: 5 });
    const started = loadedWith({ startsAt: NOW });
    expect(detailsOf("start", started, PLAIN_QUESTION)).toEqual({ startsAt: NOW });
    const asked = { ...PLAIN_QUESTION, environment: "live" };
    const both = { environment: "test", wanted: "live" };
    expect(detailsOf("environment", early, asked)).toEqual(both);
    expect(detailsOf("environment", started, asked)).toEqual({ wanted: "live" });
  });

  test("are when an unused key expires, and when a key with an expiry does", () => {
    const idle = loadedWith({ createdAt: 0, expiresWhenUnused: 500 }, { lastUsedAt: NOW });
    expect(detailsOf("idle", idle, PLAIN_QUESTION)).toEqual({ idleExpiresAt: NOW + 500 });
    const expires = NOW + 5;
    expect(detailsOf("expiry", loadedWith({ expires }), PLAIN_QUESTION)).toEqual({ expires });
  });

  test("have no field without a value", () => {
    for (const { name } of RECORD_CHECKS) {
      const details = detailsOf(name, loadedWith(), PLAIN_QUESTION);
      expect(Object.values(details ?? {})).toEqual(name === "api" ? ["api_1"] : []);
    }
  });

  test("never contain the allow list of an API", () => {
    const [loaded] = withFailures(["address"]);
    const question = { ...PLAIN_QUESTION, address: "198.51.100.1" };
    expect(detailsOf("address", loaded, question)).toEqual({ ipAddress: "198.51.100.1" });
  });

  test("do not show permissions that are not missing", () => {
    const loaded = loadedWith({}, { permissions: ["docs.read", "secret.plans"] });
    const question = { ...PLAIN_QUESTION, permissions: { and: ["docs.read", "docs.write"] } };
    expect(detailsOf("permissions", loaded, question)).toEqual({ missing: "docs.write" });
    expect(detailsOf("permissions", loaded, { ...question, permissions: "docs.read" })).toEqual({});
  });
});
