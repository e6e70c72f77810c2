import type { Damage } from "@latchkey/conformance";
import { type KeyStore, KIND_CODE } from "@latchkey/core";
import type Database from "better-sqlite3";
import { withDatabase } from "./scratch.js";

/** SQL that damages a column of a record. */
const GARBAGE = {
  body: "UPDATE latchkey_record SET body = substr(body, 1, 5)",
  version: "UPDATE latchkey_record SET version = 'one'",
} as const;

/** Damage as a disk or a careless script would do it, behind the back of the store. */
export function damageAt(pathOf: (store: KeyStore) => string): Damage {
  const inflict =
    (sql: string): NonNullable<Damage["body"]> =>
    (store, { workspaceId, kind, id }) => {
      const where = "workspace = (SELECT seq FROM latchkey_workspace WHERE id = ?)";
      damageFile(pathOf(store), `${sql} WHERE ${where} AND kind = ? AND id = ?`, [
        workspaceId,
        KIND_CODE[kind],
        id,
      ]);
    };
  return { body: inflict(GARBAGE.body), version: inflict(GARBAGE.version) };
}

/** Runs a statement that the tables of the file would refuse. */
export function damageFile(path: string, sql: string, parameters: readonly unknown[] = []): void {
  withDatabase(path, (database) =>
    pastTheSchema(database, () => database.prepare(sql).run(...parameters)),
  );
}

/** Lets a column of a STRICT table hold anything, as long as the work runs. */
function pastTheSchema(database: Database.Database, work: () => void): void {
  database.unsafeMode(true);
  database.pragma("ignore_check_constraints = ON");
  const tables = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE sql LIKE '%STRICT%'")
    .all() as { name: string; sql: string }[];
  const declare = (rewrite: (sql: string) => string) => {
    database.pragma("writable_schema = ON");
    const update = database.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = ?");
    for (const { name, sql } of tables) update.run(rewrite(sql), name);
    const version = database.pragma("schema_version", { simple: true }) as number;
    database.pragma(`schema_version = ${version + 1}`);
    database.pragma("writable_schema = RESET");
  };
  // Only in a STRICT table does a column of type ANY keep values as they are: no other table has one.
  declare((sql) => sql.replace(/\) STRICT(, )?/, ") "));
  work();
  declare((sql) => sql);
}
