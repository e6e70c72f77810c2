import type { StoreContract } from "../fixtures/context.js";
import { modelContracts } from "../model/check.js";
import { algorithmContracts } from "./algorithms.js";
import { aliasingContracts } from "./aliasing.js";
import { atomicityContracts } from "./atomicity.js";
import { chargingContracts } from "./charging.js";
import { claimingContracts } from "./claiming.js";
import { closingContracts } from "./closing.js";
import { confirmingContracts } from "./confirming.js";
import { countedContracts } from "./counted.js";
import { countingContracts } from "./counting.js";
import { emptyingContracts } from "./emptying.js";
import { endingContracts } from "./ending.js";
import { expectationContracts } from "./expectations.js";
import { forgettingContracts } from "./forgetting.js";
import { holdingContracts } from "./holding.js";
import { isolationContracts } from "./isolation.js";
import { lastingContracts } from "./lasting.js";
import { leasingContracts } from "./leasing.js";
import { limitingContracts } from "./limiting.js";
import { namingContracts } from "./naming.js";
import { orderingContracts } from "./ordering.js";
import { pagingContracts } from "./paging.js";
import { readingContracts } from "./reading.js";
import { replayingContracts } from "./replaying.js";
import { restoringContracts } from "./restoring.js";
import { returningContracts } from "./returning.js";
import { scanningContracts } from "./scanning.js";
import { settlingContracts } from "./settling.js";
import { sharingContracts } from "./sharing.js";
import { slotContracts } from "./slots.js";
import { statisticsContracts } from "./statistics.js";
import { statisticsByDayContracts } from "./statistics-by-day.js";
import { writingContracts } from "./writing.js";

/** Contracts about one part of the port. */
export interface ContractSection {
  readonly name: string;
  readonly contracts: readonly StoreContract[];
}

/** All guarantees of every store, by part of the port. */
export const CONTRACTS: readonly ContractSection[] = [
  { name: "read", contracts: readingContracts },
  { name: "page", contracts: pagingContracts },
  { name: "commit: expectations", contracts: expectationContracts },
  { name: "commit: records", contracts: writingContracts },
  { name: "commit: order of the log", contracts: orderingContracts },
  { name: "commit: claims", contracts: claimingContracts },
  { name: "commit: counters", contracts: countingContracts },
  { name: "commit: shared counters", contracts: sharingContracts },
  { name: "commit: all or nothing", contracts: atomicityContracts },
  { name: "charge: confirmation", contracts: confirmingContracts },
  { name: "charge: uses and refills", contracts: chargingContracts },
  { name: "charge: limits", contracts: limitingContracts },
  { name: "charge: algorithms", contracts: algorithmContracts },
  { name: "charge: replayed requests", contracts: replayingContracts },
  { name: "holds: taken", contracts: holdingContracts },
  { name: "holds: ended", contracts: settlingContracts },
  { name: "holds: ended by a charge", contracts: endingContracts },
  { name: "holds: renewed and over", contracts: lastingContracts },
  {
    name: "holds: changes meanwhile",
    contracts: [...returningContracts, ...emptyingContracts],
  },
  { name: "holds: slots", contracts: slotContracts },
  { name: "holds: leases of buckets", contracts: leasingContracts },
  { name: "holds: restored", contracts: restoringContracts },
  { name: "statistics", contracts: [...statisticsContracts, ...statisticsByDayContracts] },
  { name: "counted in the step", contracts: countedContracts },
  { name: "scan", contracts: scanningContracts },
  { name: "workspaces", contracts: isolationContracts },
  { name: "forget", contracts: forgettingContracts },
  { name: "values handed in and out", contracts: aliasingContracts },
  { name: "names and numbers", contracts: namingContracts },
  { name: "the model", contracts: modelContracts },
  { name: "close", contracts: closingContracts },
];
