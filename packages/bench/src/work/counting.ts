import { inFlights } from "../measure/flights.js";
import type { Contender } from "../measure/interleave.js";
import type { Question } from "../questions.js";
import type { Side } from "../sides/side.js";

const SAMPLE = 50;
/** Calls in flight when nothing is timed: one after the other would take long if each waits for the disk. */
const AT_ONCE = 64;

/** Asks a side about one secret after the other, and counts the calls for each, so that the side's counts can be checked. */
export class CountedAsking {
  private readonly asked: Uint32Array;
  private next = 0;
  private requests = 0;

  constructor(
    private readonly side: Side,
    private readonly secrets: readonly string[],
    private readonly question: Question,
  ) {
    this.asked = new Uint32Array(secrets.length);
  }

  /** `pick`: index of the next secret; default: one after the other. */
  contender(inFlight: number, pick?: () => number): Contender {
    const { side } = this;
    const order = pick ?? (() => this.next++ % side.keyCount);
    return {
      name: side.name,
      // With fewer calls, part of a slice would have fewer in flight.
      minCalls: 2 * inFlight,
      run: (calls) => inFlights(calls, inFlight, () => this.ask(order())),
    };
  }

  /** Asks about every secret once. */
  askAll(): Promise<void> {
    return inFlights(this.side.keyCount, AT_ONCE, (index) => this.ask(index));
  }

  /** Asks about one secret. @throws Error if the verdict is not the expected one. */
  async ask(index: number): Promise<void> {
    const { side, secrets, asked } = this;
    asked[index] = (asked[index] as number) + 1;
    this.requests += 1;
    const verdict = await side.verify(secrets[index] as string, `r${this.requests}`);
    if (!side.isExpected(verdict)) {
      const { expected } = this.question;
      throw new Error(`${side.name} should say ${expected}, but says ${JSON.stringify(verdict)}`);
    }
  }

  /** Checks a sample of the keys. @throws Error if the uses left are not those granted less those taken. */
  async assertCounts(): Promise<void> {
    const { side, secrets, asked, question } = this;
    const granted = question.keys.remaining;
    const takes = question.expected === "VALID" ? question.cost : 0;
    // The cost of the one verification that filled the limit before.
    const before = question.expected === "RATE_LIMITED" ? question.cost : 0;
    const step = Math.max(1, Math.floor(side.keyCount / SAMPLE));
    await inFlights(Math.ceil(side.keyCount / step), AT_ONCE, async (sample) => {
      const index = sample * step;
      await this.ask(index);
      this.requests += 1;
      const requestId = `r${this.requests}`;
      asked[index] = (asked[index] as number) + 1;
      const verdict = await side.verify(secrets[index] as string, requestId);
      const remaining = side.remainingOf(verdict);
      if (granted === null || remaining === null) return;
      const right = granted - before - takes * (asked[index] as number);
      if (remaining !== right)
        throw new Error(`${side.name} says ${remaining} uses are left of ${granted}, not ${right}`);
      if (question.hasRequestId) await this.assertRepeat(index, requestId, remaining);
    });
  }

  private async assertRepeat(index: number, requestId: string, remaining: number): Promise<void> {
    const { side, secrets } = this;
    const repeated = await side.verify(secrets[index] as string, requestId);
    if (side.remainingOf(repeated) !== remaining)
      throw new Error(`${side.name} charged for the repeat of a request`);
  }
}
