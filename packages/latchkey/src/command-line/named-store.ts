import { interceptStore, type KeyStore } from "@latchkey/core";
import { UsageError } from "./failures.js";
import type { Host } from "./host.js";
import {
  chooseStore,
  namingStore,
  openChosen,
  type StoreChoice,
  type StoreOptions,
  type StoreUse,
  urlOf,
} from "./store-options.js";

/** Opens a store named by an option other than `--store`, or by the variable that its `-env` option names. */
export function openNamed(
  option: string,
  { url, variable }: { readonly url?: string | undefined; readonly variable?: string | undefined },
  given: StoreOptions,
  host: Host,
  use: StoreUse,
): KeyStore {
  const named = urlOf(option, url, variable, host);
  if (named === undefined) throw new UsageError(`${option} is required`);
  return openForTransfer(
    chooseStore(named, variable === undefined ? option : `${option}-env`, given, use),
  );
}

/**
 * How long a call of a transfer may take, in ms. No verification waits for it, and what takes hours must not end because a disk or a rewrite
 * of a log holds up one write, which cannot be repeated like a read.
 */
export const TRANSFER_PATIENCE_MS = 10_000;

/** The same store, opened with the patience of a transfer. */
export function forTransfer(choice: StoreChoice): StoreChoice {
  const patience = TRANSFER_PATIENCE_MS;
  const { sqlite, redis, postgres } = choice.options;
  return {
    ...choice,
    options: {
      sqlite: { ...sqlite, deadlineMs: patience },
      redis: { ...redis, commandTimeoutMs: patience, configTimeoutMs: patience },
      postgres: { ...postgres, chargeTimeoutMs: patience, timeoutMs: patience },
    },
  };
}

/** Opens a store for a transfer. Its errors say which one it is, because a transfer may use two. */
export function openForTransfer(choice: StoreChoice): KeyStore {
  const fail = (error: unknown): never => {
    throw namingStore(error, choice);
  };
  return interceptStore(openChosen(forTransfer(choice)), (_, run) => {
    try {
      const answer = run();
      return answer instanceof Promise ? answer.catch(fail) : answer;
    } catch (error) {
      return fail(error);
    }
  });
}
