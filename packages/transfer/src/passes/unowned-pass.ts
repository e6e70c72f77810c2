import type { OwnedSubjects } from "../records/owned-subjects.js";
import {
  compareUnowned,
  readUnownedSums,
  type UnownedSums,
  unownedText,
} from "../records/unowned-sums.js";
import type { Target } from "../records/write.js";
import { type SumsDifference, writeSums } from "../records/write-sums.js";

/** The sums on each side; null for none. */
interface Pair {
  readonly wanted: UnownedSums | null;
  readonly present: UnownedSums | null;
}

/** Makes the sums of one workspace whose subjects are gone equal to those of its source. Both sides are read in the same order, once. */
export class UnownedPass {
  readonly #target: Target;
  readonly #pages: AsyncIterator<readonly UnownedSums[]>;
  #page: UnownedSums[] = [];

  constructor(target: Target, owned: OwnedSubjects) {
    this.#target = target;
    this.#pages = readUnownedSums(target.store, target.workspaceId, owned);
  }

  /**
   * @param isLast - Whether there are no more.
   * @param onText - Called with the text of the sums on each side, for the digests.
   * @returns How many differed.
   */
  async take(
    wanted: readonly UnownedSums[],
    isLast: boolean,
    onText: (side: "source" | "target", text: string) => void,
  ): Promise<number> {
    const differences: SumsDifference[] = [];
    const add = ({ wanted, present }: Pair) => {
      const [one, other] = [wanted, present].map((sums) => sums && unownedText(sums));
      if (one != null) onText("source", one);
      if (other != null) onText("target", other);
      const { subject } = (wanted ?? present) as UnownedSums;
      if (one !== other)
        differences.push({ subject, wanted: wanted?.sums ?? [], present: present?.sums ?? [] });
    };
    for (const sums of wanted) {
      let present = await this.#next();
      for (; present !== null && compareUnowned(present, sums) < 0; present = await this.#next()) {
        add({ wanted: null, present });
        this.#page.shift();
      }
      const isSame = present !== null && compareUnowned(present, sums) === 0;
      add({ wanted: sums, present: isSame ? present : null });
      if (isSame) this.#page.shift();
    }
    for (let rest = isLast ? await this.#next() : null; rest !== null; rest = await this.#next()) {
      add({ wanted: null, present: rest });
      this.#page.shift();
    }
    await writeSums(this.#target.store, this.#target.workspaceId, differences);
    return differences.length;
  }

  /** The first sums of the target that are left; null at the end. */
  async #next(): Promise<UnownedSums | null> {
    while (this.#page.length === 0) {
      const { done, value } = await this.#pages.next();
      if (done) return null;
      this.#page = [...value];
    }
    return this.#page[0] ?? null;
  }
}
