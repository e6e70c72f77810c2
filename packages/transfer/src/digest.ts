import { hash } from "node:crypto";

const LANES = 8;

/**
 * A digest of a set of texts, independent of their order: the sum of their SHA-256 values in 32-bit lanes. Two stores may return
 * the same things in a different order.
 */
export class SetDigest {
  readonly #lanes = new Uint32Array(LANES);
  count = 0;

  add(text: string): void {
    const digest = hash("sha256", text, "buffer");
    for (let lane = 0; lane < LANES; lane += 1)
      this.#lanes[lane] = (this.#lanes[lane] as number) + digest.readUInt32LE(lane * 4);
    this.count += 1;
  }

  /** In hexadecimal, with the number of texts. */
  toString(): string {
    return hash("sha256", `${this.count}:${[...this.#lanes].join(",")}`, "hex");
  }
}
