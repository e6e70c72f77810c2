import {
  type Change,
  isRepeatable,
  type KeyStore,
  OPERATIONS,
  type OperationName,
} from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { makeChangeFixture, WITH_VAULT } from "../change-cases/fixture.js";
import { CHANGES_NOTHING } from "../changes.js";
import { describeOnEveryStore } from "../every-store.js";
import {
  DAY_MS,
  describeOnMemory,
  type OpenContext,
  rejectionOf,
  type TestContext,
  workspacesOf,
} from "../test-context.js";
import { wrapped } from "../wrapped-store.js";
import {
  asRepeated,
  callAgain,
  REPEAT_CASES,
  REPRESENTATIVES,
  type RecordedCall,
  type RepeatCase,
  withIdempotencyKeys,
  withoutIds,
} from "./cases.js";
import { losingReplies } from "./losing-replies.js";

const NAMES = Object.keys(OPERATIONS) as OperationName[];

test("W1: every operation that writes accepts an idempotencyKey, and is tested here", () => {
  const writes = NAMES.filter(
    (name) =>
      (!CHANGES_NOTHING.has(name) ||
        name.startsWith("prune") ||
        name === "notice" ||
        name === "deleteWorkspace") &&
      // A repeated report changes nothing anyway.
      name !== "reportLeaks",
  );
  expect(NAMES.filter(isRepeatable)).toEqual(writes);
  const tried = new Set(REPEAT_CASES.map(({ operation }) => operation));
  expect(writes.filter((name) => !tried.has(name))).toEqual([]);
});

/** Whether a change writes anything. A repetition only commits its expectations. */
function writes({ expects: _, revision, ...parts }: Change): boolean {
  return revision !== null || Object.values(parts).some((part) => part.length > 0);
}

function countingWrites(store: KeyStore) {
  const written: Change[] = [];
  const counting = wrapped(store, {
    commit: (workspaceId, change) => {
      if (writes(change)) written.push(change);
      return store.commit(workspaceId, change);
    },
    deleteStatistics: () => {
      throw new TypeError("a repeat deletes no statistics");
    },
  });
  return { counting, written };
}

/** Prepares everything before the call. */
async function prepared(context: TestContext, { prepare }: RepeatCase) {
  const fixture = await makeChangeFixture(context);
  await prepare?.(context, fixture);
  return fixture;
}

async function typesLogged({ latchkey }: TestContext): Promise<readonly string[]> {
  const types: string[] = [];
  for await (const { type } of latchkey.auditEvents()) types.push(type);
  return types.sort();
}

/** When a process dies. A lost reply to one write leaves the same state as a missing next write, so the first write covers both. */
function* deaths(): Generator<readonly ["never came" | "lost", number]> {
  yield ["never came", 0];
  for (let at = 0; ; at += 1) yield ["lost", at];
}

function describeCase(open: OpenContext, repeatCase: RepeatCase): void {
  test("W1: returns the same, writes nothing, and is a CONFLICT for another write", async () => {
    const context = open(WITH_VAULT);
    const fixture = await prepared(context, repeatCase);
    const calls: RecordedCall[] = [];
    await repeatCase.run(withIdempotencyKeys(context.latchkey, calls), fixture);
    expect(calls.length).toBeGreaterThan(0);
    const { counting, written } = countingWrites(context.store);
    const other = context.another({ store: counting });
    const idempotencyKey = "call-0";
    const refusals = await Promise.all([
      rejectionOf(other.createApi({ name: "another one", idempotencyKey })),
      rejectionOf(other.ensurePermissions(["another.one"], { idempotencyKey })),
    ]);
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ code: "CONFLICT", reason: "idempotency-key-reused" });
    for (const call of calls) {
      for (const pause of [0, DAY_MS - 1]) {
        context.advance(pause);
        const repeated = await callAgain(other, call);
        expect(repeated).toEqual(asRepeated(call.answer, repeated));
      }
      context.advance(1 - DAY_MS);
    }
    expect(written).toEqual([]);
  });

  test("W1: wherever its process dies or an answer is lost, completes the write and returns the normal answer", async () => {
    const nextWorkspace = workspacesOf(open(WITH_VAULT));
    const wanted = nextWorkspace();
    const expected: RecordedCall[] = [];
    const reference = withIdempotencyKeys(wanted.latchkey, expected);
    await repeatCase.run(reference, await prepared(wanted, repeatCase));
    const logged = await typesLogged(wanted);
    for (const [way, at] of deaths()) {
      const context = nextWorkspace();
      const fixture = await prepared(context, repeatCase);
      const losing = losingReplies(context.store, at, way);
      const first = withIdempotencyKeys(context.another({ store: losing.store }), []);
      const error = await repeatCase.run(first, fixture).then(
        () => null,
        (caught: unknown) => caught,
      );
      if (!losing.hasLost()) break;
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
      for (const _ of ["the repeat", "another one"]) {
        const answers: RecordedCall[] = [];
        await repeatCase.run(withIdempotencyKeys(context.another(), answers), fixture);
        if (repeatCase.countsBehind) continue;
        expect([way, at, answers.map(({ answer }) => withoutIds(answer))]).toEqual([
          ...[way, at],
          expected.map(({ answer }) => withoutIds(answer)),
        ]);
      }
      expect([way, at, await typesLogged(context)]).toEqual([way, at, logged]);
    }
  });
}

describeOnMemory("the repeat of every write", (open) => {
  describe.each(REPEAT_CASES)("$title", (repeatCase) => describeCase(open, repeatCase));
});

describeOnEveryStore("the repeat of a write of each kind", (open) => {
  describe.each(REPRESENTATIVES)("$title", (repeatCase) => describeCase(open, repeatCase));
});
