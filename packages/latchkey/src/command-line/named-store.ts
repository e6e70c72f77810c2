import type { KeyStore } from "@latchkey/core";
import { UsageError } from "./failures.js";
import type { Host } from "./host.js";
import {
  chooseStore,
  openChosen,
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
  return openChosen(
    chooseStore(named, variable === undefined ? option : `${option}-env`, given, use),
  );
}
