import { migrate } from "@latchkey/postgres";
import type { Command } from "commander";
import { UsageError } from "../command-line/failures.js";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import {
  addStoreOptions,
  namingStore,
  readStore,
  type StoreOptions,
} from "../command-line/store-options.js";

/** After how long the command says that it still waits, in ms. */
const SILENT_MS = 2_000;

/** Adds `latchkey migrate`: creates or updates the tables in PostgreSQL, as a user with the rights to do so. */
export function addMigrate(program: Command, host: Host): void {
  const command = program
    .command("migrate")
    .description(
      "create or update the tables in PostgreSQL, for servers whose own user has no right to do so; other stores do this by themselves",
    )
    .addHelpText("after", example("latchkey migrate --store postgres://owner@localhost/app"));
  addStoreOptions(command, "any").action(async (options: StoreOptions) => {
    const { url, called, parsed, options: given } = readStore(options, host, "any");
    if (parsed.kind !== "postgres")
      throw new UsageError(`${called} must be postgres://…: other stores need no migration`);
    const timer = setTimeout(
      () =>
        host.warn(
          "still updating the tables, or waiting for a lock on them that a long query or pg_dump holds; gives up after 10 minutes",
        ),
      SILENT_MS,
    );
    await migrate(url, given.postgres)
      .catch((error: unknown) => {
        if (error instanceof TypeError)
          throw new UsageError(error.message.replace('"source"', called));
        throw namingStore(error, { url });
      })
      .finally(() => clearTimeout(timer));
    host.print("the tables are up to date");
  });
}
