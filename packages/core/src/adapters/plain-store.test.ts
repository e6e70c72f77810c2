import { describe, expect, test } from "vitest";
import type { LoadedRecord } from "../store/key-store.js";
import type { SubjectCount } from "../store/statistics.js";
import { plainPage, plainStatistics, type SumName } from "./plain-store.js";

const DAY = 86_400_000;

function loaded(id: string, version = 1): LoadedRecord {
  const record = { kind: "key", id, version, link: null, body: null } as const;
  return { record, usage: null, usedAt: null, linked: null };
}

describe("plainPage", () => {
  const WANT = { kind: "key", list: "key", after: null, limit: 2 } as const;
  const listed = [loaded("b", 3), loaded("a", 3), loaded("c", 2)];

  test.each([
    ["the first page", {}, ["a", "b"], true],
    ["what follows an id", { after: "a" }, ["b", "c"], false],
    ["what follows an id that is not listed", { after: "b5" }, ["c"], false],
    ["the last ones first", { descending: true }, ["c", "b"], true],
    ["what is before an id", { descending: true, after: "b" }, ["a"], false],
    ["by version", { from: { version: 2, id: "" } }, ["c", "a"], true],
    ["from a place on", { from: { version: 3, id: "a" } }, ["a", "b"], false],
    ["after a place", { from: { version: 3, id: "a5" } }, ["b"], false],
    [
      "by version, not descending",
      { from: { version: 3, id: "" }, descending: true },
      ["a", "b"],
      false,
    ],
  ])("%s", (_, want, ids, hasMore) => {
    const page = plainPage(listed, { ...WANT, ...want });
    expect(page.found.map(({ record }) => record.id)).toEqual(ids);
    expect(page.hasMore).toBe(hasMore);
  });
});

describe("plainStatistics", () => {
  function statistics(sums: readonly SubjectCount[]) {
    const nameOf = ({ subject, hourAt, code }: SumName) =>
      `${subject.kind} ${subject.id} ${hourAt} ${code}`;
    const rows = new Map<string, SubjectCount>();
    const plain = plainStatistics({
      all: () => [...rows.values()],
      count: (of) => rows.get(nameOf(of))?.count ?? 0,
      set: (sum) => rows.set(nameOf(sum), sum),
      delete: (of) => rows.delete(nameOf(of)),
    });
    plain.add(sums);
    return plain;
  }
  const of = (id: string, hourAt: number, count = 1): SubjectCount => ({
    ...{ subject: { kind: "key", id }, hourAt, code: "VALID", count },
  });
  const read = (startAt: number, endAt: number) => ({
    ...{ subject: { kind: "key", id: "a" } as const, startAt, endAt },
  });

  test("add up to 2^53 − 1 and stay there", () => {
    const plain = statistics([of("a", 0, 2), of("a", 0, Number.MAX_SAFE_INTEGER)]);
    plain.add([of("a", 0)]);
    expect(plain.read(read(0, 1))).toEqual([
      { hourAt: 0, code: "VALID", count: Number.MAX_SAFE_INTEGER },
    ]);
  });

  test("are read in the order of the hours, from the start on and before the end", () => {
    const plain = statistics([of("a", 3), of("a", 2), of("a", 1), of("a", 4), of("b", 2)]);
    expect(plain.read(read(2, 4)).map(({ hourAt }) => hourAt)).toEqual([2, 3]);
  });

  test("a page has whole subjects of one kind and day, in the order of their ids", () => {
    const other = { ...of("c", DAY), subject: { kind: "api", id: "c" } } as const;
    const plain = statistics([of("c", DAY), of("b", DAY), of("a", DAY), of("c", 0), other]);
    const page = plain.page({ kind: "key", dayAt: DAY, from: "b", limit: 1 });
    expect(page.sums).toEqual([of("b", DAY), of("c", DAY)]);
    expect(plain.page({ kind: "key", dayAt: 2 * DAY, from: "", limit: 1 }).sums).toEqual([]);
  });

  test("the next day is the earliest with sums", () => {
    const plain = statistics([of("a", 3 * DAY + 5), of("a", DAY + 5)]);
    expect([0, DAY, 2 * DAY, 4 * DAY].map((from) => plain.nextDay(from))).toEqual([
      ...[DAY, DAY, 3 * DAY, null],
    ]);
  });

  test("are deleted before an instant, a bounded number at once, and only for given subjects if there are any", () => {
    const plain = statistics([of("a", 1), of("a", 2), of("a", 3), of("b", 1)]);
    const b = [{ kind: "key", id: "b" }] as const;
    expect(plain.delete(3, 9, b)).toEqual({ deleted: 1, hasMore: false });
    expect(plain.delete(3, 1)).toEqual({ deleted: 1, hasMore: true });
    expect(plain.delete(3, 1)).toEqual({ deleted: 1, hasMore: false });
    expect(plain.read(read(0, 9)).map(({ hourAt }) => hourAt)).toEqual([3]);
  });
});
