import {
  type Change,
  type Claim,
  type CommitResult,
  type Expectation,
  LatchkeyError,
  type ListEntry,
  type Put,
  type RecordAddress,
} from "@latchkey/core";
import { Counters } from "./counters.js";
import type { Connection } from "./engine/connection.js";
import { prepare, prepareQuery, type Row, type SqliteStatement } from "./engine/database.js";
import { claimName, type Names, storedOwner, storedValue } from "./engine/names.js";
import { Passing } from "./passing.js";
import { KIND_CODE } from "./stored-record.js";

export const COMMIT_SQL = {
  find: `SELECT seq, version, counters FROM latchkey_record
    WHERE workspace = ? AND kind = ? AND id = ?`,
  insert: `INSERT INTO latchkey_record (workspace, kind, id, version, link, counters, body)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  update: "UPDATE latchkey_record SET version = ?, link = ?, counters = ?, body = ? WHERE seq = ?",
  delete: "DELETE FROM latchkey_record WHERE seq = ?",
  forgetUse: "DELETE FROM latchkey_used WHERE record = ?",
  holder: `SELECT r.seq, r.id FROM latchkey_claim c JOIN latchkey_record r ON r.seq = c.record
    WHERE c.name = ? AND c.value = ?`,
  claim: "INSERT OR REPLACE INTO latchkey_claim (name, value, record) VALUES (?, ?, ?)",
  release: "DELETE FROM latchkey_claim WHERE name = ? AND value = ? AND record = ?",
  enter: "INSERT OR IGNORE INTO latchkey_entry (list, owner, id) VALUES (?, ?, ?)",
  leave: "DELETE FROM latchkey_entry WHERE list = ? AND owner = ? AND id = ?",
  resize: "UPDATE latchkey_name SET size = size + ? WHERE seq = ?",
  raise: "UPDATE latchkey_workspace SET revision = revision + 1 WHERE seq = ?",
} as const;

/** A record as far as a change needs it. */
interface Found {
  readonly seq: number;
  readonly version: number;
  readonly counters: number | null;
}

/** Judges changes and carries them out. */
export class Committing {
  readonly #names: Names;
  readonly #counters: Counters;
  readonly #passing: Passing;
  readonly #run: { readonly [Name in keyof typeof COMMIT_SQL]: SqliteStatement };
  #workspace = 0;
  /** What was found in the present change, or written by it. */
  readonly #found = new Map<string, Found | null>();
  /** By how much the sizes of lists change. */
  readonly #sizes = new Map<number, number>();

  constructor({ database, names }: Connection) {
    this.#names = names;
    this.#counters = new Counters(database);
    this.#passing = new Passing(database);
    const statements = Object.entries(COMMIT_SQL).map(([name, sql]) => {
      const isQuery = sql.startsWith("SELECT");
      return [name, isQuery ? prepareQuery(database, sql) : prepare(database, sql)];
    });
    this.#run = Object.fromEntries(statements);
  }

  /** Call it inside a write transaction. */
  commit(workspaceId: string, change: Change): CommitResult {
    this.#found.clear();
    this.#sizes.clear();
    this.#workspace = this.#names.workspace(workspaceId);
    const stale = change.expects.findIndex((expected) => !this.#holds(expected));
    if (stale !== -1) return { kind: "stale", index: stale };
    const taken = change.claims.findIndex((claim, place) => this.#isTaken(claim, place, change));
    if (taken !== -1) return { kind: "taken", index: taken };
    const owners = change.counters.map((address) => this.#find(address)?.counters ?? null);
    const moves = this.#counters.judge(change.counters, owners);
    if (moves.kind === "refused") return moves;
    this.#workspace = this.#names.numberedWorkspace(workspaceId);
    this.#counters.write(moves);
    this.#write(change);
    return { kind: "committed", usages: moves.usages };
  }

  #write(change: Change): void {
    const run = this.#run;
    for (const release of change.releases) {
      const name = this.#names.name(this.#workspace, claimName(release));
      run.release.run(name, storedValue(release), this.#find(release)?.seq ?? null);
    }
    for (const put of change.puts) this.#put(put);
    for (const claim of change.claims) {
      const name = this.#names.numberedName(this.#workspace, claimName(claim));
      run.claim.run(name, storedValue(claim), this.#existing(claim).seq);
    }
    for (const address of change.deletes) this.#delete(address);
    for (const entry of change.leaves) this.#list(run.leave, entry, -1);
    for (const entry of change.enters) this.#list(run.enter, entry, 1);
    for (const [list, by] of this.#sizes) if (by !== 0) run.resize.run(by, list);
    for (const window of change.dropWindows) this.#passing.forgetWindow(this.#workspace, window);
    if (change.raisesRevision) run.raise.run(this.#workspace);
  }

  #put({ record, counters: wanted }: Put): void {
    const { kind, id, version, link, body } = record;
    const known = this.#find(record);
    const before = known?.counters ?? null;
    let counters = before;
    if (wanted !== undefined) {
      counters =
        "usage" in wanted
          ? this.#counters.add(wanted.usage)
          : this.#share({ kind, id: wanted.sharedWith });
      if (before !== null) this.#counters.release(before);
    }
    const text = JSON.stringify(body);
    let seq = known?.seq;
    if (seq !== undefined) this.#run.update.run(version, link, counters, text, seq);
    else {
      const code = KIND_CODE[kind];
      const { insert } = this.#run;
      seq = Number(
        insert.run(this.#workspace, code, id, version, link, counters, text).lastInsertRowid,
      );
    }
    this.#found.set(`${kind} ${id}`, { seq, version, counters });
  }

  #share(address: RecordAddress): number | null {
    const { counters } = this.#existing(address);
    if (counters !== null) this.#counters.share(counters);
    return counters;
  }

  #delete(address: RecordAddress): void {
    const known = this.#find(address);
    if (known === null) return;
    this.#run.delete.run(known.seq);
    this.#run.forgetUse.run(known.seq);
    if (known.counters !== null) this.#counters.release(known.counters);
    this.#passing.forgetRequests(this.#workspace, address);
    this.#found.set(`${address.kind} ${address.id}`, null);
  }

  #list(statement: SqliteStatement, entry: ListEntry, by: number): void {
    const list = this.#names.numberedName(this.#workspace, entry.list);
    const { changes } = statement.run(list, storedOwner(entry), entry.id);
    if (changes === 0 || entry.of !== undefined) return;
    this.#sizes.set(list, (this.#sizes.get(list) ?? 0) + by);
  }

  #holds(expected: Expectation): boolean {
    const found = this.#find(expected);
    if (expected.version === null) return found === null;
    return found !== null && (expected.version === "exists" || found.version === expected.version);
  }

  /** A name whose record is gone is free, and so is one that the same change releases. */
  #isTaken(claim: Claim & { readonly id: string }, place: number, change: Change): boolean {
    if (change.claims.slice(0, place).some((earlier) => isSameName(earlier, claim))) return true;
    const name = this.#names.name(this.#workspace, claimName(claim));
    const holder = this.#run.holder.get(name, storedValue(claim)) as Row | undefined;
    if (holder === undefined || holder[1] === claim.id) return false;
    return !change.releases.some((one) => isSameName(one, claim) && one.id === holder[1]);
  }

  #existing(address: RecordAddress): Found {
    const found = this.#find(address);
    if (found !== null) return found;
    throw new LatchkeyError("INTERNAL_SERVER_ERROR", "a change names a record that does not exist");
  }

  #find({ kind, id }: RecordAddress): Found | null {
    const key = `${kind} ${id}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const row = this.#run.find.get(this.#workspace, KIND_CODE[kind], id) as Row | undefined;
    const found = row === undefined ? null : foundIn(row);
    this.#found.set(key, found);
    return found;
  }
}

/** A version that cannot be read is 0, as `read` answers it: such a record can still be deleted. */
function foundIn([seq, version, counters]: Row): Found {
  return {
    seq: seq as number,
    version: Number.isSafeInteger(version) ? (version as number) : 0,
    counters: counters as number | null,
  };
}

function isSameName(one: Claim, other: Claim): boolean {
  return one.kind === other.kind && one.index === other.index && one.value === other.value;
}
