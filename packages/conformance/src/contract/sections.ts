import type { StoreContract } from "../fixtures/context.js";
import { modelContracts } from "../model/check.js";
import { algorithmContracts } from "./charge/algorithms.js";
import { confirmationContracts } from "./charge/confirmation.js";
import { limitContracts } from "./charge/limits.js";
import { replayedRequestContracts } from "./charge/replayed-requests.js";
import { usesAndRefillContracts } from "./charge/uses-and-refills.js";
import { closeContracts } from "./close.js";
import { allOrNothingContracts } from "./commit/all-or-nothing.js";
import { claimContracts } from "./commit/claims.js";
import { counterContracts } from "./commit/counters.js";
import { expectationContracts } from "./commit/expectations.js";
import { logOrderContracts } from "./commit/log-order.js";
import { recordContracts } from "./commit/records.js";
import { sharedCounterContracts } from "./commit/shared-counters.js";
import { forgetContracts } from "./forget.js";
import { endedHoldContracts } from "./holds/ended.js";
import { endingChargeContracts } from "./holds/ended-by-a-charge.js";
import { bucketLeaseContracts } from "./holds/leases-of-buckets.js";
import { limitsEmptiedMeanwhileContracts } from "./holds/limits-emptied-meanwhile.js";
import { renewedAndOverContracts } from "./holds/renewed-and-over.js";
import { restoredHoldContracts } from "./holds/restored.js";
import { slotContracts } from "./holds/slots.js";
import { takenHoldContracts } from "./holds/taken.js";
import { usesChangedMeanwhileContracts } from "./holds/uses-changed-meanwhile.js";
import { nameAndNumberContracts } from "./names-and-numbers.js";
import { pageContracts } from "./page.js";
import { readContracts } from "./read.js";
import { scanContracts } from "./scan.js";
import { countedInTheStepContracts } from "./statistics/counted-in-the-step.js";
import { dayContracts } from "./statistics/days.js";
import { sumContracts } from "./statistics/sums.js";
import { handedInAndOutContracts } from "./values-handed-in-and-out.js";
import { workspaceContracts } from "./workspaces.js";

/** Contracts about one part of the port. */
export interface ContractSection {
  readonly name: string;
  readonly contracts: readonly StoreContract[];
}

/** All guarantees of every store, by part of the port. */
export const CONTRACTS: readonly ContractSection[] = [
  { name: "read", contracts: readContracts },
  { name: "page", contracts: pageContracts },
  { name: "commit: expectations", contracts: expectationContracts },
  { name: "commit: records", contracts: recordContracts },
  { name: "commit: order of the log", contracts: logOrderContracts },
  { name: "commit: claims", contracts: claimContracts },
  { name: "commit: counters", contracts: counterContracts },
  { name: "commit: shared counters", contracts: sharedCounterContracts },
  { name: "commit: all or nothing", contracts: allOrNothingContracts },
  { name: "charge: confirmation", contracts: confirmationContracts },
  { name: "charge: uses and refills", contracts: usesAndRefillContracts },
  { name: "charge: limits", contracts: limitContracts },
  { name: "charge: algorithms", contracts: algorithmContracts },
  { name: "charge: replayed requests", contracts: replayedRequestContracts },
  { name: "holds: taken", contracts: takenHoldContracts },
  { name: "holds: ended", contracts: endedHoldContracts },
  { name: "holds: ended by a charge", contracts: endingChargeContracts },
  { name: "holds: renewed and over", contracts: renewedAndOverContracts },
  {
    name: "holds: changes meanwhile",
    contracts: [...usesChangedMeanwhileContracts, ...limitsEmptiedMeanwhileContracts],
  },
  { name: "holds: slots", contracts: slotContracts },
  { name: "holds: leases of buckets", contracts: bucketLeaseContracts },
  { name: "holds: restored", contracts: restoredHoldContracts },
  { name: "statistics", contracts: [...sumContracts, ...dayContracts] },
  { name: "counted in the step", contracts: countedInTheStepContracts },
  { name: "scan", contracts: scanContracts },
  { name: "workspaces", contracts: workspaceContracts },
  { name: "forget", contracts: forgetContracts },
  { name: "values handed in and out", contracts: handedInAndOutContracts },
  { name: "names and numbers", contracts: nameAndNumberContracts },
  { name: "the model", contracts: modelContracts },
  { name: "close", contracts: closeContracts },
];
