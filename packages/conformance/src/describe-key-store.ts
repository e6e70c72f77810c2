import { describe, test } from "vitest";
import { type Damage, damageChecks } from "./damage.js";
import { CAPABILITIES } from "./promises.js";
import { brokenSkips, type Skip } from "./skips.js";
import { type OpenAgain, type OpenEmptyStore, runCheck } from "./stage.js";

/** Far above what any check needs: a slow disk or a busy machine must not turn into a failure. */
const TIMEOUT_MS = 60_000;

/** What a store's author may add. */
export interface KeyStoreOptions {
  readonly skips?: readonly Skip[];
  /**
   * Opens a second handle on the data of a store that the suite opened, as another process would. With it, every
   * test of races and of visibility runs across both handles. The suite closes what this opens.
   */
  readonly openAgain?: OpenAgain;
  /**
   * Writes garbage beneath a store. Without it, tests on damaged records are not defined: memory holds what was
   * written.
   */
  readonly damage?: Damage;
}

/**
 * Defines the tests of everything that every `KeyStore` promises, in a `describe` of Vitest.
 *
 * @param name - What the tests are shown under.
 * @param openEmptyStore - Opens an empty store of its own for each test. The suite closes it; files and
 * databases beneath it are the caller's to remove.
 * @param options - Skips, or an object of options. A skip that names no test of the suite, or gives no reason,
 * is a failing test.
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
  }: KeyStoreOptions = isSkips(options) ? { skips: options } : options;
  const capabilities =
    damage === undefined
      ? CAPABILITIES
      : [...CAPABILITIES, { name: "damaged records", promises: damageChecks(damage) }];

  describe(name, () => {
    for (const capability of capabilities) {
      describe(capability.name, () => {
        for (const { title, check, timeoutMs = TIMEOUT_MS } of capability.promises) {
          const skip = skips.find((candidate) => candidate.test === title);
          if (skip !== undefined) test.skip(`${title} (skipped: ${skip.reason})`);
          else test(title, () => runCheck(check, openEmptyStore, openAgain), timeoutMs);
        }
      });
    }
    const titles = capabilities.flatMap(({ promises }) => promises.map(({ title }) => title));
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
