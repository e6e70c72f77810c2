import { existsSync } from "node:fs";
import {
  type Arguments,
  type Host,
  readStore,
  type StoreChoice,
  UsageError,
} from "./command-line.js";
import { isInMemory } from "./store-url.js";

/** The store of a command that creates something: it may be new, but must outlive the program. */
export function readPersistentStore(args: Arguments, host: Host): StoreChoice {
  const store = readStore(args, host);
  if (isInMemory(store.parsed)) {
    throw new UsageError(
      "--store must outlive this program: what is created in memory is gone at exit",
    );
  }
  return store;
}

/** The store of a command on existing data: a mistyped file would be created, and the work done where nobody looks. */
export function readExistingStore(args: Arguments, host: Host): StoreChoice {
  const store = readStore(args, host);
  const { parsed } = store;
  if (isInMemory(parsed)) {
    throw new UsageError(
      "--store must be one that a server uses: a store in memory is gone at exit",
    );
  }
  if (parsed.kind === "sqlite" && !existsSync(parsed.path))
    throw new Error(`there is no file ${parsed.path}`);
  return store;
}
