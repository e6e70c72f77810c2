import { describe, test } from "vitest";
import { reopeningContracts } from "./contract/closing.js";
import { type Damage, damageContracts } from "./contract/damage.js";
import { losingContracts, type SaveState } from "./contract/losing.js";
import { CONTRACTS } from "./contract/sections.js";
import {
  type OpenAgain,
  type OpenEmptyStore,
  runContract,
  type StoreContract,
} from "./fixtures/context.js";
import { brokenSkips, type Skip } from "./skips.js";

/** Far above what any contract needs: a slow disk or a busy machine must not turn into a failure. */
const TIMEOUT_MS = 300_000;

/** What a store's author may add. */
export interface KeyStoreOptions {
  readonly skips?: readonly Skip[];
  /**
   * Opens a second connection to a store that the suite opened, as another process would: also after that store was closed.
   * With it, every race and everything that is written runs across both connections, and what was written must be there when
   * the store is opened again. The suite closes what this opens.
   */
  readonly openAgain?: OpenAgain;
  /** Writes garbage beneath a store. Without it, tests of damaged records are not defined: memory holds what was written. */
  readonly damage?: Damage;
  /** Saves what a store holds, to be put back later. Without it, tests of lost writes are not defined. */
  readonly saveState?: SaveState;
  /** Share of the random sequences that are compared with the model, for a store that is very slow: above 0, 1 unless given. */
  readonly shareOfSequences?: number;
}

/**
 * Defines the tests of everything that every `KeyStore` promises, in a `describe` of Vitest.
 *
 * @param name - What the tests are shown under.
 * @param openEmptyStore - Opens an empty store of its own for each test. The suite closes it; files and databases beneath it
 * are the caller's to remove.
 * @param options - Skips, or an object of options. A skip that names no test of the suite, or gives no reason, is a failing
 * test.
 */
export function describeKeyStore(
  name: string,
  openEmptyStore: OpenEmptyStore,
  options: KeyStoreOptions | readonly Skip[] = {},
): void {
  const {
    skips = [],
    openAgain,
    damage,
    saveState,
    shareOfSequences = 1,
  }: KeyStoreOptions = isSkips(options) ? { skips: options } : options;
  const sections = [
    ...CONTRACTS,
    ...(openAgain ? [{ name: "opening again", contracts: reopeningContracts }] : []),
    ...(damage ? [{ name: "damaged records", contracts: damageContracts(damage) }] : []),
    ...(saveState ? [{ name: "lost writes", contracts: losingContracts(saveState) }] : []),
  ];
  const run = (contract: StoreContract) => () =>
    runContract(contract, openEmptyStore, openAgain, shareOfSequences);
  describe(name, () => {
    for (const section of sections) {
      describe(section.name, () => {
        for (const contract of section.contracts) {
          const { title, timeoutMs = TIMEOUT_MS } = contract;
          const skip = skips.find((candidate) => candidate.test === title);
          if (skip !== undefined) test.skip(`${title} (skipped: ${skip.reason})`);
          else test(title, run(contract), timeoutMs);
        }
      });
    }
    const titles = sections.flatMap(({ contracts }) => contracts.map(({ title }) => title));
    for (const { title, message } of brokenSkips(skips, titles)) {
      test(title, () => {
        throw new Error(message);
      });
    }
  });
}

function isSkips(options: KeyStoreOptions | readonly Skip[]): options is readonly Skip[] {
  return Array.isArray(options);
}
