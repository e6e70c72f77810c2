import type { ServerLaw } from "../world/server.js";
import type { World } from "../world/world.js";
import { usesAreNotOverspent, usesAreTakenInOrder, windowsAreNotOverspent } from "./admissions.js";
import { callsSettle, errorsAreExpected, repeatsAreAlike, workspacesAreApart } from "./calls.js";
import {
  changesStay,
  deletedIsGone,
  type EndLaw,
  listsAreWhole,
  logLeadsToTheRecord,
  processesAgreeWithTheStore,
  statisticsFit,
} from "./end-state.js";
import { revocationsHold } from "./revocations.js";
import { changesAreLogged, countersStayInBounds, refusalsMoveNothing } from "./store-steps.js";

/** Laws about one step of the store, checked with each. */
export const STEP_LAWS: readonly ServerLaw[] = [
  changesAreLogged,
  countersStayInBounds,
  refusalsMoveNothing,
];

/** Laws about all that happened. Each answers what broke it, or null. */
export const HISTORY_LAWS: Readonly<Record<string, (world: World) => string | null>> = {
  "every call settles": callsSettle,
  "errors are latchkey's own": errorsAreExpected,
  "no more uses are admitted than granted": usesAreNotOverspent,
  "no more units are admitted in a window than its limit": windowsAreNotOverspent,
  "uses are taken in an order that agrees with time": usesAreTakenInOrder,
  "no verification contradicts a revocation that resolved before it": revocationsHold,
  "the repeat of a request takes nothing again": repeatsAreAlike,
  "nothing of one workspace is told in another": workspacesAreApart,
};

/** Laws about how all stands at the end. */
export const END_LAWS: Readonly<Record<string, EndLaw>> = {
  "every process decides as the store says": processesAgreeWithTheStore,
  "lists are whole, and totals right": listsAreWhole,
  "the audit log leads to the record": logLeadsToTheRecord,
  "what resolved stays": changesStay,
  "nothing of a deleted key is left": deletedIsGone,
  "statistics fit": statisticsFit,
};
