import { describe, expect, test } from "vitest";
import { loadedWith } from "../testing/records.js";
import { decideVerification } from "./decision.js";
import { PLAIN_QUESTION, type VerifyQuestion } from "./question.js";

const NOW = 1_000_000;

const questionWith = (fields: Partial<VerifyQuestion>): VerifyQuestion => ({
  ...PLAIN_QUESTION,
  ...fields,
});

describe("what the records say", () => {
  test("a key about which nothing is wrong is charged", () => {
    expect(decideVerification(loadedWith(), PLAIN_QUESTION, NOW)).toEqual({
      kind: "charge",
      limits: [],
    });
  });

  test("in a disabled workspace no key is decided on: that is an error, not a verdict", () => {
    const loaded = loadedWith(
      {},
      { workspace: { id: "ws_default", name: null, enabled: false, version: 1 } },
    );
    expect(decideVerification(loaded, PLAIN_QUESTION, NOW)).toEqual({ kind: "workspace-disabled" });
  });

  test("a key that is switched off is DISABLED", () => {
    const decision = decideVerification(loadedWith({ enabled: false }), PLAIN_QUESTION, NOW);
    expect(decision).toEqual({ kind: "refuse", code: "DISABLED" });
  });

  test.each([
    { expires: NOW + 1, answer: "charge" },
    { expires: NOW, answer: "EXPIRED" },
    { expires: NOW - 1, answer: "EXPIRED" },
  ])(
    "at $expires, of a key that expires then, the answer at 1000000 is $answer",
    ({ expires, answer }) => {
      const decision = decideVerification(loadedWith({ expires }), PLAIN_QUESTION, NOW);
      expect(decision.kind === "refuse" ? decision.code : decision.kind).toBe(answer);
    },
  );

  test.each([
    { apiId: null, answer: "charge" },
    { apiId: "api_1", answer: "charge" },
    { apiId: "api_2", answer: "FORBIDDEN" },
  ])("a key of api_1, verified with apiId $apiId, is answered $answer", ({ apiId, answer }) => {
    const decision = decideVerification(loadedWith(), questionWith({ apiId }), NOW);
    expect(decision.kind === "refuse" ? decision.code : decision.kind).toBe(answer);
  });

  test.each([
    { ipWhitelist: [], address: null, answer: "charge" },
    { ipWhitelist: [], address: "192.0.2.7", answer: "charge" },
    { ipWhitelist: ["192.0.2.0/24", "2001:db8::/32"], address: "192.0.2.7", answer: "charge" },
    { ipWhitelist: ["192.0.2.0/24", "2001:db8::/32"], address: "2001:db8::7", answer: "charge" },
    { ipWhitelist: ["192.0.2.0/24", "2001:db8::/32"], address: "192.0.3.7", answer: "FORBIDDEN" },
    { ipWhitelist: ["192.0.2.0/24", "2001:db8::/32"], address: null, answer: "FORBIDDEN" },
  ])(
    "a key of an API for $ipWhitelist, presented from $address, is answered $answer",
    ({ ipWhitelist, address, answer }) => {
      const loaded = loadedWith({}, { api: { ...loadedWith().api, ipWhitelist } });
      const decision = decideVerification(loaded, questionWith({ address }), NOW);
      expect(decision.kind === "refuse" ? decision.code : decision.kind).toBe(answer);
    },
  );

  test("a key without a wanted permission has INSUFFICIENT_PERMISSIONS, one with it is charged", () => {
    const question = questionWith({ permissions: { and: ["docs.read", "docs.write"] } });
    expect(
      decideVerification(loadedWith({}, { permissions: ["docs.read"] }), question, NOW),
    ).toEqual({
      kind: "refuse",
      code: "INSUFFICIENT_PERMISSIONS",
    });
    expect(
      decideVerification(loadedWith({}, { permissions: ["docs.*"] }), question, NOW).kind,
    ).toBe("charge");
  });

  test("a question without permissions is fine for a key that has none", () => {
    expect(decideVerification(loadedWith(), questionWith({ permissions: null }), NOW).kind).toBe(
      "charge",
    );
  });

  test("names of roles are no permissions", () => {
    const loaded = loadedWith({}, { roles: ["admin"] });
    expect(decideVerification(loaded, questionWith({ permissions: "admin" }), NOW).kind).toBe(
      "refuse",
    );
  });
});
