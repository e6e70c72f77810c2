import {
  type CountSubject,
  corruptRecord,
  type EpochMs,
  type HourCount,
  LatchkeyError,
  type Removal,
  type VerificationBatch,
} from "@latchkey/core";
import type { Connection } from "./connection.js";
import { noAnswer } from "./errors.js";
import { type KeyNames, verificationsName } from "./key-names.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { text, whole } from "./values.js";
import {
  byDay,
  type DayCounts,
  dayMember,
  dayOf,
  dayOfMember,
  dayText,
  hourCounts,
} from "./verification-days.js";

type LastUsed = VerificationBatch["lastUsed"];

/** Most subjects and days, or keys, that one script writes or reads: nobody waits long behind it. */
const MOST_AT_ONCE = 200;

/** Counters of verifications, by subject and day of UTC. */
export class Verifications {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  /** In several steps where there is much to add. Once the first is made, a failure is one with an unknown outcome. */
  async add(workspaceId: string, { counts, lastUsed }: VerificationBatch): Promise<void> {
    const days = byDay(counts);
    const steps = Math.ceil(Math.max(days.length, lastUsed.length) / MOST_AT_ONCE);
    for (let step = 0; step < steps; step += 1) {
      const from = step * MOST_AT_ONCE;
      const to = from + MOST_AT_ONCE;
      try {
        await this.#addSome(workspaceId, days.slice(from, to), lastUsed.slice(from, to));
      } catch (error) {
        throw step === 0 ? error : halfWay(error);
      }
    }
  }

  async get(
    workspaceId: string,
    subject: CountSubject,
    startAt: EpochMs,
    endAt: EpochMs,
  ): Promise<readonly HourCount[]> {
    const found: HourCount[] = [];
    const [first, last] = await this.#daysBetween(workspaceId, dayOf(startAt), dayOf(endAt - 1));
    for (let from = first; from <= last; from += MOST_AT_ONCE) {
      const count = Math.min(MOST_AT_ONCE, last - from + 1);
      const days = Array.from({ length: count }, (_, number) => from + number);
      found.push(...(await this.#read(workspaceId, subject, days)));
    }
    return found.filter(({ hourAt }) => hourAt >= startAt && hourAt < endAt);
  }

  /** Two steps: which days, then those of them that are not too many. */
  async delete(workspaceId: string, beforeAt: EpochMs, limit: number): Promise<Removal> {
    const names = this.#names.of(workspaceId);
    const list = names.verificationDays;
    const end = `(${dayText(dayOf(beforeAt))}`;
    const listed = await this.#connection.run(
      SCRIPTS.listVerificationDays,
      [list],
      [end, String(limit + 1)],
    );
    const members = listed.slice(0, limit).map(text);
    if (members.length === 0) return { deleted: 0, hasMore: false };
    const [deleted, visited] = await this.#connection.run(
      SCRIPTS.deleteVerifications,
      [list, ...members.map((member) => verificationsName(names, member))],
      [String(limit), ...members],
    );
    return { deleted: whole(deleted), hasMore: whole(visited) < listed.length };
  }

  async #addSome(
    workspaceId: string,
    days: readonly DayCounts[],
    lastUsed: LastUsed,
  ): Promise<void> {
    const names = this.#names.of(workspaceId);
    const [status] = await this.#connection.run(
      SCRIPTS.addVerifications,
      [
        names.verificationDays,
        names.keyHashes,
        names.lastUsed,
        ...days.map(({ member }) => verificationsName(names, member)),
      ],
      [
        String(lastUsed.length),
        ...lastUsed.flatMap(({ keyId, usedAt }) => [keyId, String(usedAt)]),
        ...days.flatMap(({ member, counts }) => [member, String(counts.length / 2), ...counts]),
      ],
    );
    if (status === "CORRUPT") throw corruptRecord("verification counter");
    if (status !== "OK") throw unexpected(status);
  }

  /** The days asked for; where they are many, those of them between the first and the last that anything was counted in. */
  async #daysBetween(
    workspaceId: string,
    first: number,
    last: number,
  ): Promise<readonly [number, number]> {
    if (last - first < MOST_AT_ONCE) return [first, last];
    const { verificationDays } = this.#names.of(workspaceId);
    const reply = await this.#connection.run(SCRIPTS.findVerificationDays, [verificationDays], []);
    if (reply.length === 0) return [0, -1];
    return [Math.max(first, dayOfMember(reply[0])), Math.min(last, dayOfMember(reply[1]))];
  }

  async #read(
    workspaceId: string,
    subject: CountSubject,
    days: readonly number[],
  ): Promise<readonly HourCount[]> {
    const names = this.#names.of(workspaceId);
    const keys = days.map((day) => verificationsName(names, dayMember(subject, day)));
    const reply = await this.#connection.run(SCRIPTS.getVerifications, keys, []);
    return days.flatMap((day, number) => hourCounts(day, reply[number]));
  }
}

/** Some of it was added, whatever is said of the rest. */
function halfWay(error: unknown): unknown {
  const isKnown = error instanceof LatchkeyError && error.outcome === "not-applied";
  return isKnown ? noAnswer(true, error.message) : error;
}
