import {
  EMPTY_CHANGE,
  type KeyStore,
  type StatisticsRange,
  type StatisticsSubject,
} from "@latchkey/core";
import { elsewhere, type Methods, type Mutant, withPlans } from "./mutant.js";

const DAY_MS = 86_400_000;

function withRanges(store: KeyStore, alter: (range: StatisticsRange) => StatisticsRange): Methods {
  return {
    readStatistics: (workspaceId, range) => store.readStatistics(workspaceId, alter(range)),
  };
}

function withSubjects(
  store: KeyStore,
  alter: (subject: StatisticsSubject) => StatisticsSubject,
): Methods {
  const ranged = withRanges(store, (range) => ({ ...range, subject: alter(range.subject) }));
  return {
    ...ranged,
    addStatistics: (workspaceId, { counts, uses }) =>
      store.addStatistics(workspaceId, {
        counts: counts.map((count) => ({ ...count, subject: alter(count.subject) })),
        uses,
      }),
  };
}

export const STATISTICS_MUTANTS: readonly Mutant[] = [
  {
    mistake: "counts charges, and no looks",
    noticedBy: ["counted in the step"],
    plant: (store) =>
      withPlans(store, (plan) => (plan.mode === "peek" ? { ...plan, counts: undefined } : plan)),
  },
  {
    mistake: "counts the repeat of a request as it counted the first",
    noticedBy: ["counted in the step"],
    plant: (store) =>
      withPlans(store, ({ counts, ...plan }) => {
        if (counts === undefined) return plan;
        return {
          ...plan,
          counts: { ...counts, sums: { ...counts.sums, repeat: counts.sums.charged } },
        };
      }),
  },
  {
    mistake: "counts for the first subject alone",
    noticedBy: ["counted in the step"],
    plant: (store) =>
      withPlans(store, ({ counts, ...plan }) => ({
        ...plan,
        counts: counts && { ...counts, subjects: counts.subjects.slice(0, 1) },
      })),
  },
  {
    mistake: "ends holds without counting them",
    noticedBy: ["counted in the step"],
    plant: (store) => ({
      settle: (id, step, { now, revision }) => store.settle(id, step, { now, revision }),
    }),
  },
  {
    mistake: "counts the hour at the end of a range",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => withRanges(store, (range) => ({ ...range, endAt: range.endAt + 1 })),
  },
  {
    mistake: "leaves out the hour at the start of a range",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => withRanges(store, (range) => ({ ...range, startAt: range.startAt + 1 })),
  },
  {
    mistake: "counts subjects by id, whatever their kind is",
    noticedBy: ["statistics"],
    plant: (store) => withSubjects(store, (subject) => ({ ...subject, kind: "key" })),
  },
  {
    mistake: "answers sums latest first",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => ({
      readStatistics: async (workspaceId, range) =>
        (await store.readStatistics(workspaceId, range)).toReversed(),
    }),
  },
  {
    mistake: "finds a day only behind the one that it is asked for",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => ({
      nextStatisticsDay: (workspaceId, from) =>
        store.nextStatisticsDay(workspaceId, from === 0 ? 0 : from + DAY_MS),
    }),
  },
  {
    mistake: "answers the hour of the first sum as its day",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => ({
      nextStatisticsDay: async (workspaceId, from) => {
        const dayAt = await store.nextStatisticsDay(workspaceId, from);
        return dayAt === null ? null : dayAt + 5 * 3_600_000;
      },
    }),
  },
  {
    mistake: "reads a sum, and then writes the new one",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => {
      const sums = new Map<string, number>();
      return {
        addStatistics: async (workspaceId, batch) => {
          await store.addStatistics(workspaceId, batch);
          const [first] = batch.counts;
          if (first === undefined) return;
          const name = `${workspaceId} ${first.subject.id}`;
          const before = sums.get(name) ?? 0;
          await elsewhere();
          sums.set(name, before + first.count);
        },
        readStatistics: async (workspaceId, range) => {
          const found = await store.readStatistics(workspaceId, range);
          const count = sums.get(`${workspaceId} ${range.subject.id}`);
          return found.length === 1 && count !== undefined
            ? found.map((sum) => ({ ...sum, count }))
            : found;
        },
      };
    },
  },
  {
    mistake: "keeps the use that was reported last",
    noticedBy: ["statistics"],
    seed: 2,
    plant: (store) => {
      const told = new Map<string, number>();
      return {
        addStatistics: async (workspaceId, batch) => {
          await store.addStatistics(workspaceId, batch);
          for (const { kind, id, usedAt } of batch.uses)
            told.set(JSON.stringify([workspaceId, kind, id]), usedAt);
        },
        read: async (workspaceId, wants) => {
          const { revision, found } = await store.read(workspaceId, wants);
          const last = found.map((loaded) => {
            if (loaded === null || loaded.usedAt === null) return loaded;
            const name = JSON.stringify([workspaceId, loaded.record.kind, loaded.record.id]);
            return { ...loaded, usedAt: told.get(name) ?? loaded.usedAt };
          });
          return { revision, found: last };
        },
      };
    },
  },
  {
    mistake: "writes a revision with statistics",
    noticedBy: ["statistics"],
    plant: (store) => ({
      addStatistics: async (workspaceId, batch) => {
        await store.addStatistics(workspaceId, batch);
        await store.commit(workspaceId, { ...EMPTY_CHANGE, revision: 9 });
      },
    }),
  },
  {
    mistake: "forgets the day that begins at the instant, too",
    noticedBy: ["statistics"],
    plant: (store) => ({
      deleteStatistics: (workspaceId, beforeAt, limit) =>
        store.deleteStatistics(workspaceId, beforeAt + DAY_MS, limit),
    }),
  },
  {
    mistake: "deletes the sums of all subjects instead of some",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => ({
      deleteStatistics: (workspaceId, beforeAt, limit) =>
        store.deleteStatistics(workspaceId, beforeAt, limit),
    }),
  },
  {
    mistake: "deletes the sums of the first given subject only",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => ({
      deleteStatistics: (workspaceId, beforeAt, limit, of) =>
        store.deleteStatistics(workspaceId, beforeAt, limit, of?.slice(0, 1)),
    }),
  },
  {
    mistake: "forgets sums of subjects of another kind with the same id",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => ({
      deleteStatistics: (workspaceId, beforeAt, limit, of) =>
        store.deleteStatistics(
          workspaceId,
          beforeAt,
          limit,
          of?.flatMap(({ id }) => [
            { kind: "key", id },
            { kind: "identity", id },
          ]),
        ),
    }),
  },
  {
    mistake: "forgets everything in one step",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => ({
      deleteStatistics: (workspaceId, beforeAt) =>
        store.deleteStatistics(workspaceId, beforeAt, Number.MAX_SAFE_INTEGER),
    }),
  },
  {
    mistake: "says after one step that nothing is left",
    noticedBy: ["statistics"],
    isNoticedByModel: false,
    plant: (store) => ({
      deleteStatistics: async (workspaceId, beforeAt, limit) => {
        const { deleted } = await store.deleteStatistics(workspaceId, beforeAt, limit);
        return { deleted, hasMore: false };
      },
    }),
  },
];
