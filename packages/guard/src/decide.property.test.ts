import type { VerifyOutcome } from "@latchkey/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createDecision } from "./decide.js";
import { START } from "./testing/open.js";

const CODES = [
  "VALID",
  "NOT_FOUND",
  "DISABLED",
  "FORBIDDEN",
  "EXPIRED",
  "INSUFFICIENT_PERMISSIONS",
  "RATE_LIMITED",
  "USAGE_EXCEEDED",
];

const query = fc.letrec((tie) => ({
  query: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: "binary" }),
    fc.record({ and: fc.array(tie("query"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ or: fc.array(tie("query"), { minLength: 1, maxLength: 3 }) }),
  ),
})).query;

/** Verdicts of any kind, including some that no version of core gives. */
const verdict = fc
  .record({
    code: fc.oneof(fc.constantFrom(...CODES), fc.string(), fc.constant("toString")),
    missing: fc.option(query, { nil: undefined }),
    retryAfterMs: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
    ratelimits: fc.option(
      fc.array(
        fc.record({
          name: fc.string({ unit: "binary" }),
          limit: fc.maxSafeNat(),
          remaining: fc.maxSafeNat(),
          reset: fc.maxSafeNat(),
          exceeded: fc.boolean(),
          duration: fc.maxSafeNat(),
        }),
        { maxLength: 3 },
      ),
      { nil: undefined },
    ),
  })
  .map((fields) => ({ ...fields, valid: fields.code === "VALID" }));

const presented = fc.record({
  authorization: fc.array(
    fc.oneof(fc.string({ unit: "binary" }), fc.constant("Bearer S3CR3T"), fc.constant("Basic x")),
    { maxLength: 2 },
  ),
  apiKey: fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constant("S3CR3T")), {
    maxLength: 2,
  }),
  forwardedFor: fc.array(fc.string({ unit: "binary" }), { maxLength: 2 }),
  remoteAddress: fc.option(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())),
});

test("only VALID is admitted, every response can be sent, and none repeats the key", async () => {
  await fc.assert(
    fc.asyncProperty(
      presented,
      fc.oneof(verdict, fc.constant(null)),
      fc.boolean(),
      fc.nat({ max: 2 }),
      async (request, verdict, optional, trustProxy) => {
        let asked = 0;
        const answer = async () => {
          asked += 1;
          if (verdict === null) throw new Error("the store is on fire");
          return verdict as VerifyOutcome;
        };
        const latchkey = { verifier: () => answer, verifyKey: answer, now: () => START } as never;
        const decide = createDecision(latchkey, { trustProxy, onError: () => undefined });
        const decision = await decide({ optional })(request, null);
        if (decision.admitted) {
          expect(
            decision.apiKey === null ? optional && asked === 0 : verdict?.code === "VALID",
          ).toBe(true);
          expect(() => new Headers(decision.headers)).not.toThrow();
        } else {
          expect(asked === 1 && verdict?.code === "VALID").toBe(false);
          expect(decision.status).toBeGreaterThanOrEqual(401);
          expect(() => new Response(decision.body, decision)).not.toThrow();
          expect(JSON.stringify(decision)).not.toContain("S3CR3T");
          expect(JSON.parse(decision.body)).toMatchObject({ status: decision.status });
        }
      },
    ),
    { numRuns: 1_000 },
  );
});
