import type { KeyStore } from "@latchkey/core";
import { UsageError } from "./failures.js";
import type { Host } from "./host.js";
import { openChosen, readStore, type StoreOptions, type StoreUse, urlOf } from "./store-options.js";

/** Opens the store that an option other than `--store` names, and complains of that option. */
export function openNamed(
  option: string,
  { url, variable }: { readonly url?: string | undefined; readonly variable?: string | undefined },
  given: StoreOptions,
  host: Host,
  use: StoreUse,
): KeyStore {
  const { storeEnv: _, ...rest } = given;
  const store = urlOf(option, url, variable, host);
  if (store === undefined) throw new UsageError(`${option} is required`);
  const named = { ...rest, store };
  try {
    return openChosen(readStore(named, host, use), named);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(
      error.message.replace(/^--store\b/, variable === undefined ? option : `${option}-env`),
    );
  }
}
