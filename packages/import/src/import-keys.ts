import {
  type ImportedKeyResult,
  type Latchkey,
  LatchkeyError,
  OPERATIONS,
  parseInput,
} from "@latchkey/core";
import { Apis } from "./apis.js";
import { createGrant, createIdentity } from "./prepare.js";
import { type ImportReport, type RowReport, rowReport, Tally } from "./report.js";
import type { ImportRow, ImportSource, RowIssue } from "./row.js";

/** What an import calls of a latchkey. */
export type ImportTarget = Pick<
  Latchkey,
  | "createKeys"
  | "getApi"
  | "listApis"
  | "createApi"
  | "createRole"
  | "createPermission"
  | "createIdentity"
  | "getIdentity"
  | "updateIdentity"
>;

/** Options of {@link importKeys}. */
export interface ImportOptions {
  readonly from: ImportSource;
  readonly into: ImportTarget;
  /** The API of all keys, which exists. Without it, each row says its own. */
  readonly apiId?: string | undefined;
  /** Name of the API of all keys, in place of `apiId`. It is made where there is none. */
  readonly apiName?: string | undefined;
  /** Nothing is written: the report says what would be. */
  readonly dryRun?: boolean | undefined;
  /** Is told what became of each row. */
  readonly onRow?: ((row: RowReport) => void) | undefined;
  /** A clock for the rate, in ms. */
  readonly clock?: (() => number) | undefined;
}

/** Keys of one call of createKeys, and what the roles and permissions of one call add up to at most. */
const CHUNK = { rows: 100, grants: 10_000 };

/** Owners that are remembered as being there. */
const MAX_OWNERS = 100_000;

/** Stands for the API that a dry run does not make. */
const NO_API = "api_none";

/** A row with the API that it goes to. */
interface Placed {
  readonly row: ImportRow;
  readonly apiId: string | null;
  /** Name of the API that is made for it. */
  readonly newName: string | null;
}

/**
 * Takes over the keys of a source: each goes on working with the secret that its user has. A row that cannot be taken over is
 * skipped, and the report says why; it stops no other.
 *
 * Run it again after it was stopped, or when keys were added there: what is there stays as it is, and is not written again.
 *
 * @returns How far it is, after each hundred rows; the last report is the whole.
 * @throws LatchkeyError `NOT_FOUND` for an unknown `apiId`, and what the store throws. All rows reported until then are settled.
 */
export async function* importKeys(options: ImportOptions): AsyncGenerator<ImportReport, void> {
  const { from, into, apiId, dryRun = false, clock = () => performance.now() } = options;
  const startedAt = clock();
  const tally = new Tally(dryRun, from.ignoredColumns, () => clock() - startedAt);
  if (apiId !== undefined) await into.getApi({ apiId });
  const work = new Import(options, tally);
  let chunk: ImportRow[] = [];
  let grants = 0;
  for await (const row of from.rows) {
    const count = grantsOf(row);
    if (chunk.length === CHUNK.rows || grants + count > CHUNK.grants) {
      await work.settle(chunk);
      yield tally.report(false);
      chunk = [];
      grants = 0;
    }
    chunk.push(row);
    grants += count;
  }
  await work.settle(chunk);
  yield tally.report(true);
}

function grantsOf({ key: { roles, permissions } }: ImportRow): number {
  return [roles, permissions].reduce<number>(
    (sum, names) => sum + (Array.isArray(names) ? names.length : 0),
    0,
  );
}

class Import {
  readonly #options: ImportOptions;
  readonly #into: ImportTarget;
  readonly #tally: Tally;
  readonly #apis: Apis;
  readonly #owners = new Set<string>();

  constructor(options: ImportOptions, tally: Tally) {
    this.#options = options;
    this.#into = options.into;
    this.#tally = tally;
    this.#apis = new Apis(options.into, options);
  }

  /** Judges rows without writing, makes what the good ones need, and writes these. */
  async settle(rows: readonly ImportRow[]): Promise<void> {
    const reports = new Map<ImportRow, RowReport>();
    const placed: Placed[] = [];
    for (const row of rows) {
      const issues = [...row.issues];
      if (grantsOf(row) > CHUNK.grants)
        issues.push({ field: "permissions", message: "are more than a key can have" });
      const choice = await this.#apis.choose(row);
      if ("issue" in choice && issues.length === 0) issues.push(choice.issue);
      if (issues.length > 0) reports.set(row, rowReport(row, "skipped", { issues }));
      else
        placed.push({
          row,
          apiId: "apiId" in choice ? choice.apiId : null,
          newName: "newName" in choice ? choice.newName : null,
        });
    }
    const good = await this.#judge(placed, reports);
    if (this.#options.dryRun)
      for (const { row } of good) reports.set(row, rowReport(row, "written"));
    else await this.#write(good, reports);
    for (const row of rows) {
      const report = reports.get(row) as RowReport;
      this.#tally.settle(report);
      this.#options.onRow?.(report);
    }
  }

  /** The rows that can be written, once what they need is made. */
  async #judge(
    placed: readonly Placed[],
    reports: Map<ImportRow, RowReport>,
  ): Promise<readonly Placed[]> {
    const results = await this.#createKeys(placed, true);
    const good = placed.filter(({ row, newName }, index) => {
      const { error } = results[index] as ImportedKeyResult;
      if (error === undefined || isMissingGrants(error)) return true;
      if (newName !== null && error.code === "NOT_FOUND") return true;
      reports.set(row, refusedRow(row, error));
      return false;
    });
    const missing = { roles: new Set<string>(), permissions: new Set<string>() };
    results.forEach(({ error }) => {
      for (const kind of ["roles", "permissions"] as const)
        for (const name of error?.details?.missing?.[kind] ?? []) missing[kind].add(name);
    });
    for (const kind of ["roles", "permissions"] as const)
      for (const name of missing[kind])
        if (this.#options.dryRun || (await createGrant(this.#into, kind, name)))
          this.#tally.create(kind, name);
    return this.#withApis(good, reports);
  }

  /** Makes the APIs that rows go to. */
  async #withApis(
    placed: readonly Placed[],
    reports: Map<ImportRow, RowReport>,
  ): Promise<readonly Placed[]> {
    const ready: Placed[] = [];
    for (const item of placed) {
      const { row, newName } = item;
      if (newName === null) {
        ready.push(item);
        continue;
      }
      try {
        ready.push({ ...item, apiId: await this.#api(row, newName) });
      } catch (error) {
        if (!(error instanceof LatchkeyError) || error.code !== "BAD_REQUEST") throw error;
        const issues = error.issues.map(({ message }) => ({ field: "api", message }));
        reports.set(row, rowReport(row, "skipped", { issues }));
      }
    }
    return ready;
  }

  async #api(row: ImportRow, name: string): Promise<string> {
    const choice = await this.#apis.choose(row);
    if ("apiId" in choice) return choice.apiId;
    parseInput(OPERATIONS.createApi.input, { name });
    const { apiId } = this.#options.dryRun
      ? { apiId: NO_API }
      : await this.#into.createApi({ name });
    if (!this.#options.dryRun) this.#apis.add(name, apiId);
    this.#tally.create("apis", name);
    return apiId;
  }

  async #write(placed: readonly Placed[], reports: Map<ImportRow, RowReport>): Promise<void> {
    const ready: Placed[] = [];
    for (const item of placed) {
      const issues = await this.#makeOwner(item.row);
      if (issues.length === 0) ready.push(item);
      else reports.set(item.row, rowReport(item.row, "skipped", { issues }));
    }
    const results = await this.#createKeys(ready, false);
    ready.forEach(({ row }, index) => {
      const { error, keyId } = results[index] as ImportedKeyResult;
      reports.set(
        row,
        error === undefined
          ? rowReport(row, "written", { keyId: keyId ?? undefined })
          : refusedRow(row, error),
      );
    });
  }

  /** createKeys makes owners as well, and knows nothing of them but the `externalId`. */
  async #makeOwner({ key, identity }: ImportRow): Promise<readonly RowIssue[]> {
    const owner = key.externalId ?? key.ownerId;
    if (identity === undefined || typeof owner !== "string" || this.#owners.has(owner)) return [];
    const issues = await createIdentity(this.#into, owner, identity);
    if (this.#owners.size >= MAX_OWNERS) this.#owners.clear();
    if (issues.length === 0) this.#owners.add(owner);
    return issues;
  }

  async #createKeys(
    placed: readonly Placed[],
    dryRun: boolean,
  ): Promise<readonly ImportedKeyResult[]> {
    if (placed.length === 0) return [];
    const keys = placed.map(({ row, apiId }) => ({ ...row.key, apiId: apiId ?? NO_API }));
    const { results } = await this.#into.createKeys(keys as never, { partial: true, dryRun });
    return results;
  }
}

function isMissingGrants(error: LatchkeyError): boolean {
  return error.reason === "missing-grants";
}

function refusedRow(row: ImportRow, error: LatchkeyError): RowReport {
  if (error.code === "CONFLICT") return rowReport(row, "already there");
  const issues: readonly RowIssue[] =
    error.code === "BAD_REQUEST"
      ? error.issues.map(({ path, message }) => ({ field: path, message }))
      : [{ field: error.code === "NOT_FOUND" ? "apiId" : "", message: error.message }];
  return rowReport(row, "skipped", { issues });
}
