import { describe, expect, test } from "vitest";
import type { AppliedCharge } from "../store/charge.js";
import { identityWith, loadedWith } from "../testing/records.js";
import type { LoadedKey } from "../verification/loaded-key.js";
import { verdictOf } from "../verification/verdict.js";
import type { LatchkeyEvent } from "./emitter.js";
import { emitUnknownSecret, emitVerdict } from "./verification-events.js";

const NOW = 1_000;
const ABOUT = {
  workspaceId: "ws_default",
  at: NOW,
  durationMs: 0.25,
  keyId: "key_1",
  apiId: "api_1",
};

interface Verified {
  readonly loaded?: LoadedKey;
  readonly code?: Parameters<typeof verdictOf>[1];
  readonly cost?: number;
  readonly remaining?: number | null;
  readonly tags?: readonly string[];
  readonly shadows?: readonly string[];
}

function eventsOf({
  loaded = loadedWith(),
  code = "VALID",
  cost = 1,
  remaining = null,
  tags,
  shadows = [],
}: Verified): LatchkeyEvent[] {
  const events: LatchkeyEvent[] = [];
  const kind = code === "USAGE_EXCEEDED" ? "usage-exceeded" : "charged";
  const charge: AppliedCharge = { kind, remaining, limits: [] };
  const verdict = verdictOf(loaded, code, charge, NOW);
  emitVerdict(
    (event) => events.push(event),
    { loaded, verdict, cost, now: NOW, charge, shadows },
    { durationMs: 0.25, cached: true, tags },
  );
  return events;
}

describe("the events of a verification", () => {
  test("say which key was verified, and the verdict", () => {
    expect(eventsOf({})).toStrictEqual([
      { type: "key.verified", ...ABOUT, code: "VALID", cached: true },
    ]);
  });

  test("name the shadow limits that would have refused, beside the verdict", () => {
    const shadow = { code: "SHADOW_LIMITED", ratelimits: ["tried"] };
    expect(eventsOf({ shadows: ["tried"] })).toStrictEqual([
      { type: "key.verified", ...ABOUT, code: "VALID", cached: true, shadow },
    ]);
  });

  test("name the identity and the tags, if there are any", () => {
    const loaded = loadedWith({ identityId: "id_1" }, { identity: identityWith() });
    expect(eventsOf({ loaded, tags: ["a"] })).toStrictEqual([
      {
        type: "key.verified",
        ...ABOUT,
        identityId: "id_1",
        code: "VALID",
        cached: true,
        tags: ["a"],
      },
    ]);
  });

  test.each([
    { cost: 1, remaining: 1, isExhausted: false },
    { cost: 1, remaining: 0, isExhausted: true },
    { cost: 0, remaining: 0, isExhausted: false },
    { cost: 1, remaining: null, isExhausted: false },
  ])(
    "at a cost of $cost with $remaining left afterwards, the last use was taken: $isExhausted",
    ({ cost, remaining, isExhausted }) => {
      const types = eventsOf({ cost, remaining }).map(({ type }) => type);
      expect(types).toEqual(isExhausted ? ["key.verified", "key.exhausted"] : ["key.verified"]);
    },
  );

  test("never say that a refusal took the last use", () => {
    const types = eventsOf({ code: "USAGE_EXCEEDED", remaining: 0 }).map(({ type }) => type);
    expect(types).toEqual(["key.verified"]);
  });

  test("say when an expired key expired", () => {
    const loaded = loadedWith({ expires: NOW - 5 });
    expect(eventsOf({ loaded, code: "EXPIRED" })).toStrictEqual([
      { type: "key.verified", ...ABOUT, code: "EXPIRED", cached: true },
      { type: "key.expired", ...ABOUT, expiredAt: NOW - 5 },
    ]);
  });

  test("never hold the hash, or anything else of the key", () => {
    const loaded = loadedWith({ hash: "the-hash", start: "pay_ab", sealedSecret: "sealed" });
    const text = JSON.stringify(eventsOf({ loaded, remaining: 0 }));
    for (const secret of ["the-hash", "pay_ab", "sealed"]) expect(text).not.toContain(secret);
  });
});

test("a secret that no key has is an event of its workspace, without a key", () => {
  const events: LatchkeyEvent[] = [];
  const trace = { durationMs: 1.5, cached: false, tags: ["a"] };
  emitUnknownSecret((event) => events.push(event), "ws_tides", NOW, trace);
  expect(events).toStrictEqual([
    {
      type: "key.verified",
      workspaceId: "ws_tides",
      at: NOW,
      durationMs: 1.5,
      code: "NOT_FOUND",
      cached: false,
      tags: ["a"],
    },
  ]);
});
