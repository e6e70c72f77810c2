import { type Damage, describeKeyStore, type KeyStoreOptions } from "@latchkey/conformance";
import { type KeyStore, KIND_CODE } from "@latchkey/core";
import type { Source } from "../engine/open.js";
import { postgresStore } from "../index.js";
import { PATIENT } from "./postgres-server.js";

/** Runs SQL behind the back of the store. */
export type RunSql = (sql: string, values?: readonly unknown[]) => Promise<unknown>;

const TABLES = [
  "workspace",
  "counters",
  "hold",
  "record",
  "claim",
  "list",
  "entry",
  "passing",
  "statistic",
];

/** One statement that empties all tables. */
function emptied(schema: string): string {
  const deletions = TABLES.map((table) => `${table} AS (DELETE FROM ${schema}.${table})`);
  return `WITH ${deletions.join(", ")} SELECT 1`;
}

/** How many schemas the tests use in turn: creating one takes longer than most tests. Fewer stores are in use at once. */
const SCHEMAS = 4;

/** Runs the contract of the port on two connections to one database. */
export function describeContract(
  name: string,
  sources: () => readonly [Source, Source],
  run: RunSql,
  options: KeyStoreOptions = {},
): void {
  const schemas = new WeakMap<KeyStore, string>();
  let count = 0;
  const open = (source: Source, schema: string) => {
    const store = postgresStore(source, { schema, ...PATIENT });
    schemas.set(store, schema);
    return store;
  };
  /** Damage as a disk or a careless script would do it. */
  const inflict =
    (change: string): NonNullable<Damage["body"]> =>
    async (store, { workspaceId, kind, id }) => {
      const schema = schemas.get(store);
      await run(`ALTER TABLE ${schema}.record DROP CONSTRAINT IF EXISTS record_version_check`);
      await run(
        `UPDATE ${schema}.record r SET ${change} FROM ${schema}.workspace w
          WHERE w.seq = r.workspace AND w.id = $1 AND r.kind = $2 AND r.id = $3`,
        [workspaceId, KIND_CODE[kind], id],
      );
    };
  /** As after the promotion of a standby: everything written since then is gone. */
  const saveState = async (store: KeyStore) => {
    const schema = schemas.get(store) as string;
    for (const table of TABLES) {
      await run(`DROP TABLE IF EXISTS ${schema}.saved_${table}`);
      await run(`CREATE TABLE ${schema}.saved_${table} AS SELECT * FROM ${schema}.${table}`);
    }
    return async () => {
      await run(emptied(schema));
      for (const table of TABLES)
        await run(
          `INSERT INTO ${schema}.${table} OVERRIDING SYSTEM VALUE SELECT * FROM ${schema}.saved_${table}`,
        );
    };
  };
  describeKeyStore(
    name,
    async () => {
      const schema = `test_${process.pid}_${count % SCHEMAS}`;
      const store = open(sources()[0], schema);
      if (count < SCHEMAS) await store.read("nowhere", []);
      else await run(emptied(schema));
      count += 1;
      return store;
    },
    {
      openAgain: (store) => open(sources()[1], schemas.get(store) ?? ""),
      ...options,
      saveState,
      damage: { body: inflict(`body = '{"a":'`), version: inflict("version = -7") },
    },
  );
}
