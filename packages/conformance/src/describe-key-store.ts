import { describe, test } from "vitest";
import { reopeningContracts } from "./contract/close.js";
import { type Damage, damagedRecordContracts } from "./contract/damaged-records.js";
import { lostWriteContracts, type SaveState } from "./contract/lost-writes.js";
import { CONTRACTS, type ContractSection } from "./contract/sections.js";
import {
  type OpenAgain,
  type OpenEmptyStore,
  runContract,
  type StoreContract,
} from "./fixtures/context.js";
import { brokenSkips, type Skip } from "./skips.js";

/** Far more than any contract needs, so that a slow disk or a busy machine does not fail a test. */
const TIMEOUT_MS = 300_000;

/** Options of {@link describeKeyStore}. */
export interface KeyStoreOptions {
  readonly skips?: readonly Skip[];
  /**
   * Opens a second connection to a store that the suite opened, as another process would, even after that store was closed. With it, races
   * and writes run across both connections, and writes must be there when the store is opened again. The suite closes what this opens.
   */
  readonly openAgain?: OpenAgain;
  /** Damages stored records. Without it, there are no tests of damaged records. */
  readonly damage?: Damage;
  /** Saves the contents of a store, to restore them later. Without it, there are no tests of lost writes. */
  readonly saveState?: SaveState;
  /** Share of the random sequences to run, for a very slow store: above 0. Default: 1. */
  readonly shareOfSequences?: number;
  /**
   * Names of the sections to run, such as "page", for another way to open a store that has passed all of them. An unknown name fails.
   * Default: all.
   */
  readonly sections?: readonly string[];
}

/**
 * Defines the tests of all guarantees of a `KeyStore`, in a `describe` of Vitest.
 *
 * @param name - Title of the `describe`.
 * @param openEmptyStore - Opens an empty store of its own for each test. The suite closes it; the caller removes files and databases.
 * @param options - Skips, or an object of options. A skip with an unknown test or without a reason fails.
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
    sections: wanted,
  }: KeyStoreOptions = isSkips(options) ? { skips: options } : options;
  const all = [
    ...CONTRACTS,
    ...(openAgain ? [{ name: "opening again", contracts: reopeningContracts }] : []),
    ...(damage ? [{ name: "damaged records", contracts: damagedRecordContracts(damage) }] : []),
    ...(saveState ? [{ name: "lost writes", contracts: lostWriteContracts(saveState) }] : []),
  ];
  const sections = wanted === undefined ? all : sectionsNamed(wanted, all);
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

/** @throws {TypeError} for a name that no section has. */
function sectionsNamed(
  names: readonly string[],
  all: readonly ContractSection[],
): readonly ContractSection[] {
  return names.map((wanted) => {
    const found = all.find(({ name }) => name === wanted);
    if (found === undefined) throw new TypeError(`"sections": no section is called "${wanted}"`);
    return found;
  });
}

function isSkips(options: KeyStoreOptions | readonly Skip[]): options is readonly Skip[] {
  return Array.isArray(options);
}
