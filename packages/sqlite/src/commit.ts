import type {
  Change,
  Claim,
  CommitResult,
  Expectation,
  ListEntry,
  Put,
  RecordAddress,
} from "@latchkey/core";
import { Counters } from "./counters.js";
import type { Connection } from "./engine/connection.js";
import { prepareAll, type Statement } from "./engine/database.js";
import { claimName, type Names, storedOwner, storedValue } from "./engine/names.js";
import { Passing } from "./passing.js";
import { KIND_CODE, versionOf } from "./stored-record.js";

export const COMMIT_SQL = {
  find: "SELECT seq, version, counters FROM latchkey_record WHERE workspace = ? AND kind = ? AND id = ?",
  insert: `INSERT INTO latchkey_record (version, link, counters, body, workspace, kind, id)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  update: "UPDATE latchkey_record SET version = ?, link = ?, counters = ?, body = ? WHERE seq = ?",
  delete: "DELETE FROM latchkey_record WHERE seq = ?",
  forgetUse: "DELETE FROM latchkey_used WHERE record = ?",
  holder: `SELECT r.id FROM latchkey_claim c JOIN latchkey_record r ON r.seq = c.record
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
  readonly #run;
  #workspace = 0;
  /** What was found in the present change, or written by it. */
  readonly #found = new Map<string, Found | null>();
  /** By how much the sizes of lists change. */
  readonly #growth = new Map<number, number>();

  constructor({ database, names }: Connection) {
    this.#names = names;
    this.#counters = new Counters(database);
    this.#passing = new Passing(database);
    this.#run = prepareAll(database, COMMIT_SQL);
  }

  /** Call it inside a write transaction. */
  commit(workspaceId: string, change: Change): CommitResult {
    this.#found.clear();
    this.#growth.clear();
    this.#workspace = this.#names.workspace(workspaceId);
    const stale = change.expects.findIndex((expected) => !this.#holds(expected));
    if (stale !== -1) return { kind: "stale", index: stale };
    const taken = change.claims.findIndex((claim, place) => this.#isTaken(claim, place, change));
    if (taken !== -1) return { kind: "taken", index: taken };
    const seqOf = (address: RecordAddress) => this.#find(address)?.counters ?? null;
    const moves = this.#counters.judge(change.counters, seqOf);
    if (moves.kind === "refused") return moves;
    this.#workspace = this.#names.workspace(workspaceId, true);
    for (const [seq, counters] of moves.after) this.#counters.move(seq, counters);
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
      const name = this.#names.name(this.#workspace, claimName(claim), true);
      run.claim.run(name, storedValue(claim), this.#existing(claim).seq);
    }
    for (const address of change.deletes) this.#delete(address);
    for (const entry of change.leaves) this.#move(run.leave, entry, -1);
    for (const entry of change.enters) this.#move(run.enter, entry, 1);
    for (const [list, by] of this.#growth) run.resize.run(by, list);
    for (const window of change.dropWindows) this.#passing.forget(this.#workspace, window);
    if (change.raisesRevision) run.raise.run(this.#workspace);
  }

  #put({ record, counters: wanted }: Put): void {
    const { kind, id, version, link } = record;
    const known = this.#find(record);
    let counters = known?.counters ?? null;
    if (wanted !== undefined) {
      const before = counters;
      if ("usage" in wanted) counters = this.#counters.add(wanted.usage);
      else counters = this.#existing({ kind, id: wanted.sharedWith }).counters;
      if (counters !== null && "sharedWith" in wanted) this.#counters.share(counters);
      if (before !== null) this.#counters.release(before);
    }
    const columns = [version, link, counters, JSON.stringify(record.body)];
    let seq = known?.seq;
    if (seq !== undefined) this.#run.update.run(...columns, seq);
    else {
      const { lastInsertRowid } = this.#run.insert.run(
        ...[...columns, this.#workspace, KIND_CODE[kind], id],
      );
      seq = Number(lastInsertRowid);
    }
    this.#found.set(`${kind} ${id}`, { seq, version, counters });
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

  #move(statement: Statement, entry: ListEntry, by: number): void {
    const list = this.#names.name(this.#workspace, entry.list, true);
    const { changes } = statement.run(list, storedOwner(entry), entry.id);
    if (changes === 0 || entry.of !== undefined) return;
    this.#growth.set(list, (this.#growth.get(list) ?? 0) + by);
  }

  #holds(expected: Expectation): boolean {
    const found = this.#find(expected);
    if (expected.version === null || found === null)
      return expected.version === null && found === null;
    return expected.version === "exists" || found.version === expected.version;
  }

  /** A name whose record is gone is free, and so is one that the same change releases. */
  #isTaken(claim: Claim & { readonly id: string }, place: number, change: Change): boolean {
    if (change.claims.slice(0, place).some((earlier) => isSameName(earlier, claim))) return true;
    const name = this.#names.name(this.#workspace, claimName(claim));
    const [holder = claim.id] = this.#run.holder.get(name, storedValue(claim)) ?? [];
    if (holder === claim.id) return false;
    return !change.releases.some(
      (released) => isSameName(released, claim) && released.id === holder,
    );
  }

  #existing(address: RecordAddress): Found {
    const found = this.#find(address);
    if (found === null)
      throw new TypeError(`the change names a ${address.kind} that does not exist`);
    return found;
  }

  #find({ kind, id }: RecordAddress): Found | null {
    const key = `${kind} ${id}`;
    let found = this.#found.get(key);
    if (found !== undefined) return found;
    const row = this.#run.find.get(this.#workspace, KIND_CODE[kind], id);
    found = row === undefined ? null : foundIn(row as [number, unknown, number | null]);
    this.#found.set(key, found);
    return found;
  }
}

function foundIn([seq, version, counters]: readonly [number, unknown, number | null]): Found {
  return { seq, version: versionOf(version), counters };
}

function isSameName(one: Claim, other: Claim): boolean {
  return one.kind === other.kind && one.index === other.index && one.value === other.value;
}
