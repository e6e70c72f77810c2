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

/** Opens a store whose errors say which one it is, for transfers, which may use two. */
export function openForTransfer(choice: StoreChoice): KeyStore {
  const fail = (error: unknown): never => {
    throw namingStore(error, choice);
  };
  return interceptStore(openChosen(choice), (_, run) => {
    try {
      const answer = run();
      return answer instanceof Promise ? answer.catch(fail) : answer;
    } catch (error) {
      return fail(error);
    }
  });
}
