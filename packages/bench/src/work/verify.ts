import { isDeepStrictEqual } from "node:util";
import type { StoreKind } from "../fixture/stores.js";
import { inFlights } from "../measure/flights.js";
import { interleave } from "../measure/interleave.js";
import type { Measurement } from "../measure/measurement.js";
import type { Question } from "../questions.js";
import type { Side } from "../sides/side.js";
import { CountedAsking } from "./counting.js";
import { openSides, type Sides } from "./sides.js";
import type { Work } from "./work.js";

/** Number of our own sides: the limit, latchkey and its verifier. */
const OURS = 3;

/** Measures keys that the process has verified before: the cost of every verification but the first of a key. */
export function verifyWarm(kind: StoreKind, question: Question, inFlight: number): Work {
  return async ({ location, scale }) => {
    const sides = await openSides(kind, location, question, scale.keys);
    const { secrets, present, absent } = sides;
    const askings = present.map((side) => new CountedAsking(side, secrets, question));
    if (question.expected === "RATE_LIMITED") await useUp(sides);
    for (const asking of askings.slice(0, OURS)) await asking.askAll();
    await assertSameAnswer(sides, question);
    const samples = await interleave(
      askings.map((asking) => asking.contender(inFlight)),
      scale.pace,
    );
    // The answers compared above were not counted.
    for (const asking of askings) await asking.assertCounts();
    await sides.close();
    const flight = inFlight === 1 ? "" : `, ${inFlight} in flight`;
    const measurement: Measurement = {
      id: `verify/${kind}/${question.id}/${inFlight}`,
      title: `${question.title}${flight}`,
      unit: "µs",
      sides: samples,
      absent,
    };
    return [measurement];
  };
}

/** Takes the one unit of each key's limit, so that every later verification is refused. */
async function useUp({ present, secrets }: Sides): Promise<void> {
  for (const side of present)
    await inFlights(side.keyCount, 64, async (index) => {
      await side.verify(secrets[index] as string, "first");
    });
}

/** Checks that the limit gives the same answer as latchkey. @throws Error with both answers. */
async function assertSameAnswer({ present, secrets }: Sides, { id }: Question): Promise<void> {
  const [limit, latchkey] = present as [Side, Side];
  const secret = secrets.at(-1) as string;
  const answers = [await limit.verify(secret, "same"), await latchkey.verify(secret, "same")];
  // `retryAfterMs` counts from the call, and the two calls are some ms apart.
  const [one, other] = answers.map((answer) => {
    const { retryAfterMs, ...rest } = answer as { readonly retryAfterMs?: number };
    return { ...rest, isWaitingUseful: retryAfterMs !== undefined };
  });
  if (!isDeepStrictEqual(one, other))
    throw new Error(`${id}: ${answers.map((one) => JSON.stringify(one))}`);
}
