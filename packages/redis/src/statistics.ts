import {
  corruptRecord,
  type DeletedCount,
  type EpochMs,
  type HourCount,
  hourCount,
  type KeyStore,
  parseWhole,
  STATISTICS_SPAN_MS,
  type StatisticsPage,
  type StatisticsPageWant,
  type StatisticsSubject,
} from "@latchkey/core";
import { PLAIN_LAST, plain } from "./engine/names.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, digits, whole } from "./engine/stored-values.js";
import type { Workspace } from "./engine/workspace.js";

const DAY_MS = 24 * STATISTICS_SPAN_MS;
const DAY_WIDTH = 9;
const SUM = "sum of verifications";

/** The methods of a store about sums of verifications. */
export function statisticsOf(at: (workspaceId: string) => Workspace) {
  return {
    /** Core passes at most 500 sums and as many uses, which keeps the script short. */
    async addStatistics(workspaceId, { counts, uses }) {
      const workspace = at(workspaceId);
      const keys = [workspace.days];
      const args = [String(counts.length)];
      for (const { subject, hourAt, code, count } of counts) {
        const member = `${dayText(hourAt)} ${subjectText(subject)}`;
        keys.push(workspace.sumsOf(subjectText(subject)));
        args.push(member, ` ${hourAt / STATISTICS_SPAN_MS}:${code}=`, digits(count));
      }
      for (const use of uses) {
        keys.push(workspace.recordsOf(use));
        args.push(use.id, digits(use.usedAt));
      }
      const answer = await workspace.run(SCRIPTS.addStatistics, keys, args);
      if (answer !== "OK") throw corruptRecord(SUM);
    },
    async readStatistics(workspaceId, { subject, startAt, endAt }) {
      const workspace = at(workspaceId);
      const keys = [workspace.sumsOf(subjectText(subject))];
      const range = [dayText(startAt), dayText(endAt)];
      const days = await workspace.run(SCRIPTS.readStatistics, keys, range);
      return asList(days, SUM)
        .flatMap(readSums)
        .filter(({ hourAt }) => hourAt >= startAt && hourAt < endAt)
        .sort((one, other) => one.hourAt - other.hourAt);
    },
    pageStatistics: (workspaceId, want) => pageStatistics(at(workspaceId), want),
    async nextStatisticsDay(workspaceId, from) {
      const [member] = await listDays(at(workspaceId), `[${dayText(from)}`, "+", 1);
      return member === undefined ? null : Number(member.slice(0, DAY_WIDTH)) * DAY_MS;
    },
    deleteStatistics: (workspaceId, ...given) => deleteStatistics(at(workspaceId), ...given),
  } satisfies Partial<KeyStore>;
}

/** The sums of the day of `now`, in the form of count.lua, and the prefix of each code. */
export function sumsAt(workspace: Workspace, subjects: readonly StatisticsSubject[], now: EpochMs) {
  const texts = subjects.map(subjectText);
  return {
    keys: [workspace.days, ...texts.map((text) => workspace.sumsOf(text))],
    members: texts.map((text) => `${dayText(now)} ${text}`),
    hour: ` ${Math.floor(now / STATISTICS_SPAN_MS)}:`,
  };
}

/** Two steps: first the subjects, then their sums. */
async function pageStatistics(
  workspace: Workspace,
  want: StatisticsPageWant,
): Promise<StatisticsPage> {
  const { kind, dayAt, from, limit } = want;
  const day = dayText(dayAt);
  const start = `${day} ${kind}:`;
  const members = await listDays(workspace, `[${start}${from}`, `(${day} ${kind};`, limit + 1);
  if (members.length === 0) return { sums: [], hasMore: false };
  const keys = members.map((member) => workspace.sumsOf(member.slice(DAY_WIDTH + 1)));
  const texts = await workspace.run(SCRIPTS.daySums, keys, [day, String(limit)]);
  const found = asList(texts, SUM);
  const sums = found.flatMap((text, index) => {
    const subject = { kind, id: String(members[index]).slice(start.length) };
    return readSums(text).map((sum) => ({ subject, ...sum }));
  });
  const hasMore = found.length < members.length || members.length > limit;
  if (sums.length > 0 || !hasMore) return { sums, hasMore };
  // All of these were deleted meanwhile. The next page begins after the last id, since an id contains no space.
  return pageStatistics(workspace, { ...want, from: `${members.at(-1)?.slice(start.length)} ` });
}

/** For some subjects, one step; otherwise two: first the days, then as many of them as the limit allows. */
export async function deleteStatistics(
  workspace: Workspace,
  beforeAt: EpochMs,
  limit: number,
  of?: readonly StatisticsSubject[],
): Promise<DeletedCount> {
  const { days } = workspace;
  if (of !== undefined) {
    const subjects = of.map(subjectText);
    const given = [String(limit), dayText(beforeAt), ...subjects];
    const sums = subjects.map((subject) => workspace.sumsOf(subject));
    const reply = asList(await workspace.run(SCRIPTS.deleteSumsOf, [days, ...sums], given), SUM);
    return { deleted: whole(reply[0], SUM), hasMore: reply[1] === 1 };
  }
  const listed = await listDays(workspace, "-", `(${dayText(beforeAt)}`, limit + 1);
  const members = listed.slice(0, limit);
  const keys = [days, ...members.map((member) => workspace.sumsOf(member.slice(DAY_WIDTH + 1)))];
  const args = [String(limit), ...members];
  const reply = asList(await workspace.run(SCRIPTS.deleteStatistics, keys, args), SUM);
  const [deleted, visited] = [whole(reply[0], SUM), whole(reply[1], SUM)];
  return { deleted, hasMore: visited < listed.length };
}

/** Which subjects have sums on which days, each as `<day> <subject>`. `from` and `to`: in the syntax of ZRANGEBYLEX. */
async function listDays(
  workspace: Workspace,
  from: string,
  to: string,
  limit: number,
): Promise<readonly string[]> {
  const keys = [workspace.shared, workspace.days, workspace.days];
  const answer = await workspace.run(SCRIPTS.page, keys, ["a", from, to, String(limit)]);
  return asList(asList(answer, SUM)[2], SUM).map(String);
}

/** The UTC day of an instant, as text that sorts by time. */
function dayText(at: EpochMs): string {
  return String(Math.floor(at / DAY_MS)).padStart(DAY_WIDTH, "0");
}

function subjectText({ kind, id }: StatisticsSubject): string {
  return `${kind}:${plain(id, PLAIN_LAST)}`;
}

/** `text`: the sums of a day, as in add-statistics.lua; empty for none. */
function readSums(text: unknown): readonly HourCount[] {
  const [before, ...sums] = String(text).split(" ");
  if (before !== "") throw corruptRecord(SUM);
  return sums.map(readSum);
}

/** `text`: `<hour since the epoch>:<code>=<count>` */
function readSum(text: string): HourCount {
  const [, hour, word, count] = /^(\d+):(\w+)=(\d+)$/.exec(text) ?? [];
  return hourCount(Number(hour) * STATISTICS_SPAN_MS, word, parseWhole(count));
}
