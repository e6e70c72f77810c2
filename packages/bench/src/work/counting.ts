import { inFlights } from "../measure/flights.js";
import type { Contender } from "../measure/interleave.js";
import type { Question } from "../questions.js";
import type { Side } from "../sides/side.js";

const SAMPLE = 50;
/** Where nothing is timed: one after the other takes long where each waits for the disk. */
const AT_ONCE = 64;

/**
 * Asks a side about one secret after the other, and remembers how often about each: so that what it counted can be compared with
 * what it was asked.
 */
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

  /** `pick`: which secret is next; one after the other unless given. */
  contender(inFlight: number, pick?: () => number): Contender {
    const { side } = this;
    const order = pick ?? (() => this.next++ % side.keyCount);
    return {
      name: side.name,
      // With fewer, some of the slice would have less in flight.
      minCalls: 2 * inFlight,
      run: (calls) => inFlights(calls, inFlight, () => this.ask(order())),
    };
  }

  /** Asks about every secret once. */
  askAll(): Promise<void> {
    return inFlights(this.side.keyCount, AT_ONCE, (index) => this.ask(index));
  }

  /** Asks about one secret. @throws Error when the verdict is another than the right one. */
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

  /** @throws Error when the uses left of some key are not what was granted, without what was asked. */
  async assertCounts(): Promise<void> {
    const { side, secrets, asked, question } = this;
    const granted = question.keys.remaining;
    const takes = question.expected === "VALID" ? question.cost : 0;
    // That of the slot which had to be used up before.
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
