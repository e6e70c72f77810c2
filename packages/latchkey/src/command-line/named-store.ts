import type { KeyStore } from "@latchkey/core";
import { UsageError } from "./failures.js";
import type { Host } from "./host.js";
import { openChosen, readStore, type StoreOptions, type StoreUse } from "./store-options.js";

/** Opens the store that an option other than `--store` names, and complains of that option. */
export function openNamed(
  option: string,
  url: string,
  given: StoreOptions,
  host: Host,
  use: StoreUse,
): KeyStore {
  const named = { ...given, store: url };
  try {
    return openChosen(readStore(named, host, use), named);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(error.message.replace("--store", option));
  }
}
