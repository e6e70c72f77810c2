import type { Damage, DamageKind } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import type Database from "better-sqlite3";
import { withDatabase } from "./scratch.js";

const SEQ = "(SELECT counters_seq FROM latchkey_key WHERE id = ?)";

/** What a column of the key holds afterwards. */
const GARBAGE: { readonly [Kind in DamageKind]: string } = {
  "not-a-number remaining": `UPDATE latchkey_counters SET remaining = 'NaN' WHERE seq = ${SEQ}`,
  "negative remaining": `UPDATE latchkey_counters SET remaining = -5 WHERE seq = ${SEQ}`,
  "broken json": "UPDATE latchkey_key SET meta = substr(meta, 1, 9) WHERE id = ?",
  "wrong type": "UPDATE latchkey_key SET ratelimits = '{\"name\":1}' WHERE id = ?",
};

/** Damage as a disk or a careless script would do it, behind the back of the store. */
export function damageBy(pathOf: (store: KeyStore) => string): Damage {
  const inflict = (sql: string) => (store: KeyStore, keyId: string) =>
    withDatabase(pathOf(store), (database) =>
      pastTheSchema(database, () => database.prepare(sql).run(keyId)),
    );
  return Object.fromEntries(Object.entries(GARBAGE).map(([kind, sql]) => [kind, inflict(sql)]));
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
  declare((sql) => sql.replace(/\) STRICT(, )?/, ") "));
  work();
  declare((sql) => sql);
}
