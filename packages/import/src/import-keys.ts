import type { ErrorDetails, ImportedKeyResult, Latchkey, LatchkeyError } from "@latchkey/core";
import { Apis, assertApiName } from "./apis.js";
import { isTooDeep, TOO_DEEP } from "./bounds.js";
import { assertKnownOptions, assertLatchkey } from "./options.js";
import { createGrant, createIdentity, identityIssues } from "./prepare.js";
import { type ImportReport, RowCounts, type RowReport, rowReport } from "./report.js";
import type { IdentitySettings, ImportRow, ImportSource, RowIssue } from "./row.js";

/** The methods of a latchkey that an import calls. */
export type ImportTarget = Pick<
  Latchkey,
  | "createKeys"
  | "getApi"
  | "listApis"
  | "ensureApi"
  | "createRole"
  | "createPermission"
  | "createIdentity"
>;

/** Options of {@link importKeys}. */
export interface ImportOptions {
  readonly from: ImportSource;
  readonly into: ImportTarget;
  /** Id of the API of all keys. Default: each row names its own. */
  readonly apiId?: string | undefined;
  /** Name of the API of all keys, instead of `apiId`. It is created if it does not exist. */
  readonly apiName?: string | undefined;
  /** Writes nothing: the report says what would be written. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Called with the result of each row. */
  readonly onRow?: ((row: RowReport) => void) | undefined;
  /** Clock for the rate, in ms. */
  readonly clock?: (() => number) | undefined;
}

const OPTIONS = ["from", "into", "apiId", "apiName", "dryRun", "onRow", "clock"];

/** Keys per call of createKeys, and the maximum of their roles and permissions together. */
const CHUNK = { rows: 100, grants: 10_000 };

/** Owners remembered as existing. */
const MAX_OWNERS = 100_000;

/** Stands for the API that a dry run does not create. */
const NO_API = "api_none";

/** A row with the API that it belongs to. */
interface Placed {
  readonly row: ImportRow;
  readonly apiId: string | null;
  /** Name of the API to create for it. */
  readonly newName: string | null;
}

/** A row that can be written once its missing roles and permissions exist. */
interface Judged extends Placed {
  readonly missing: ErrorDetails["missing"];
}

/**
 * Imports the keys of a source: each keeps working with the secret that its user has. A row that cannot be imported is skipped, and the
 * report says why; it does not stop the others.
 *
 * Run it again if it was interrupted, or to import new keys: existing keys stay unchanged.
 *
 * @returns A report after each hundred rows; the last one is the result.
 * @throws TypeError naming a wrong option.
 * @throws LatchkeyError `NOT_FOUND` for an unknown `apiId`, `BAD_REQUEST` for an impossible `apiName`, and errors of the store. Rows
 * reported before are done.
 */
export async function* importKeys(options: ImportOptions): AsyncGenerator<ImportReport, void> {
  const { from, into, apiId, apiName, dryRun = false, clock = () => performance.now() } = options;
  assertKnownOptions("importKeys", options, OPTIONS);
  assertLatchkey("into", into);
  if (typeof dryRun !== "boolean") throw new TypeError('"dryRun" must be true or false');
  const startedAt = clock();
  const counted = new RowCounts(dryRun, from.ignoredColumns, () => clock() - startedAt);
  if (apiId !== undefined) await into.getApi({ apiId });
  if (apiName !== undefined) await assertApiName(apiName);
  const work = new Import(options, counted);
  let chunk: ImportRow[] = [];
  let grants = 0;
  for await (const row of from.rows) {
    const count = grantsOf(row);
    if (chunk.length === CHUNK.rows || grants + count > CHUNK.grants) {
      await work.write(chunk);
      yield counted.report(false);
      chunk = [];
      grants = 0;
    }
    chunk.push(row);
    grants += count;
  }
  await work.write(chunk);
  yield counted.report(true);
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
  readonly #counted: RowCounts;
  readonly #apis: Apis;
  readonly #owners = new Set<string>();

  constructor(options: ImportOptions, counted: RowCounts) {
    this.#options = options;
    this.#into = options.into;
    this.#counted = counted;
    this.#apis = new Apis(options.into, options);
  }

  /** Checks rows without writing, creates what the good ones need, and writes them. */
  async write(rows: readonly ImportRow[]): Promise<void> {
    const reports = new Map<ImportRow, RowReport>();
    const placed: Placed[] = [];
    for (const row of rows) {
      const issues = [...row.issues];
      if (isTooDeep(row.key) || isTooDeep(row.identity))
        issues.push({ field: "", message: TOO_DEEP });
      if (grantsOf(row) > CHUNK.grants)
        issues.push({ field: "permissions", message: "are more than a key can have" });
      const choice = await this.#apis.choose(row);
      if ("issue" in choice && issues.length === 0) issues.push(choice.issue);
      if (issues.length > 0) reports.set(row, rowReport(row, "skipped", { issues }));
      else if (!("issue" in choice)) placed.push({ row, apiId: null, newName: null, ...choice });
    }
    const ready = await this.#prepare(await this.#judge(placed, reports), reports);
    if (this.#options.dryRun)
      for (const { row } of ready) reports.set(row, rowReport(row, "written"));
    else await this.#write(ready, reports);
    for (const row of rows) {
      const report = reports.get(row) as RowReport;
      this.#counted.add(report);
      if (row.endsSource === true) this.#counted.endAt(row.number);
      this.#options.onRow?.(report);
    }
  }

  /** The rows that createKeys would write, without those roles and permissions that are known to be missing. */
  async #trial(
    items: readonly (Placed & Partial<Judged>)[],
    reports: Map<ImportRow, RowReport>,
  ): Promise<readonly Judged[]> {
    const results = await this.#createKeys(items.map(withoutMissing), true);
    return items.flatMap((item, index): Judged[] => {
      const { error } = results[index] as ImportedKeyResult;
      const lacksApi = item.newName !== null && error?.code === "NOT_FOUND";
      if (error === undefined || lacksApi || error.reason === "missing-grants")
        return [{ ...item, missing: item.missing ?? error?.details.missing }];
      reports.set(item.row, refusedRow(item.row, error));
      return [];
    });
  }

  /** The rows that can be written, once their roles and permissions exist. */
  async #judge(
    placed: readonly Placed[],
    reports: Map<ImportRow, RowReport>,
  ): Promise<readonly Judged[]> {
    const judged = await this.#trial(placed, reports);
    // What is missing hides whatever else is wrong, such as too many keys of one owner.
    const isHidden = judged.some(({ missing }) => missing !== undefined);
    const sound = isHidden ? await this.#trial(judged, reports) : judged;
    const good: Judged[] = [];
    for (const item of sound) {
      const owner = this.#newOwnerOf(item.row);
      const issues = owner === null ? [] : await identityIssues(...owner);
      if (issues.length > 0) reports.set(item.row, rowReport(item.row, "skipped", { issues }));
      else good.push(item);
    }
    return good;
  }

  /** Creates what rows need, but nothing for a skipped row. Owners come first, because they may be refused. */
  async #prepare(
    judged: readonly Judged[],
    reports: Map<ImportRow, RowReport>,
  ): Promise<readonly Placed[]> {
    const ready: Judged[] = [];
    for (const item of judged) {
      const issues = await this.#makeOwner(item.row);
      if (issues.length === 0) ready.push(item);
      else reports.set(item.row, rowReport(item.row, "skipped", { issues }));
    }
    const { dryRun } = this.#options;
    for (const kind of ["roles", "permissions"] as const)
      for (const name of new Set(ready.flatMap(({ missing }) => missing?.[kind] ?? [])))
        if (dryRun || (await createGrant(this.#into, kind, name))) this.#counted.create(kind, name);
    const placed: Placed[] = [];
    for (const item of ready) placed.push({ ...item, apiId: await this.#apiOf(item) });
    return placed;
  }

  async #apiOf({ row, apiId, newName }: Placed): Promise<string | null> {
    if (newName === null) return apiId;
    if (this.#options.dryRun) {
      this.#counted.create("apis", newName);
      return null;
    }
    // An earlier row may have created it.
    const choice = await this.#apis.choose(row);
    if ("apiId" in choice) return choice.apiId;
    // Another import, or a server during its setup, may be creating it right now.
    const made = await this.#into.ensureApi({ name: newName });
    if (made.created) this.#counted.create("apis", newName);
    this.#apis.add(newName, made.apiId);
    return made.apiId;
  }

  async #write(placed: readonly Placed[], reports: Map<ImportRow, RowReport>): Promise<void> {
    const results = await this.#createKeys(placed, false);
    placed.forEach(({ row }, index) => {
      const { error, keyId } = results[index] as ImportedKeyResult;
      const report =
        error === undefined
          ? rowReport(row, "written", { keyId: keyId ?? undefined })
          : refusedRow(row, error);
      reports.set(row, report);
    });
  }

  /** createKeys creates owners as well, but only with their `externalId`. */
  async #makeOwner(row: ImportRow): Promise<readonly RowIssue[]> {
    const owner = this.#newOwnerOf(row);
    if (owner === null) return [];
    const issues = this.#options.dryRun ? [] : await createIdentity(this.#into, ...owner);
    if (this.#owners.size >= MAX_OWNERS) this.#owners.clear();
    if (issues.length === 0) this.#owners.add(owner[0]);
    return issues;
  }

  /** The owner that must exist before the key, with its settings; null if there is none, or if it is known to exist. */
  #newOwnerOf({ key, identity }: ImportRow): [externalId: string, IdentitySettings] | null {
    const owner = key.externalId ?? key.ownerId;
    if (identity === undefined || typeof owner !== "string" || this.#owners.has(owner)) return null;
    return [owner, identity];
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

/** The row without what is missing: the names of `missing` are those of the row. */
function withoutMissing<Item extends Placed & Partial<Judged>>(item: Item): Item {
  const { row, missing } = item;
  if (missing === undefined) return item;
  const lists = (["roles", "permissions"] as const).map((kind) => {
    const names = row.key[kind];
    const gone = new Set<unknown>(missing[kind]);
    return [kind, Array.isArray(names) ? names.filter((name) => !gone.has(name)) : names];
  });
  return { ...item, row: { ...row, key: { ...row.key, ...Object.fromEntries(lists) } } };
}

function refusedRow(row: ImportRow, error: LatchkeyError): RowReport {
  if (error.code === "CONFLICT") return rowReport(row, "already there");
  const issues: readonly RowIssue[] =
    error.code === "BAD_REQUEST"
      ? error.issues.map(({ path, message }) => ({ field: path, message }))
      : [{ field: error.code === "NOT_FOUND" ? "apiId" : "", message: error.message }];
  return rowReport(row, "skipped", { issues });
}
