import type { StepLaws } from "../world/server.js";
import type { World } from "../world/world.js";
import { usesAreNotOverspent, usesAreTakenInOrder, windowsAreNotOverspent } from "./admissions.js";
import { callsSettle, errorsAreExpected, repeatsAreAlike, workspacesAreApart } from "./calls.js";
import {
  listsFollowTheRecords,
  statesHaveVersionsOfTheirOwn,
  theLogTellsTheChange,
} from "./changes.js";
import { verdictsHaveCharges } from "./charges.js";
import { listsAreWhole, logsAreWhole, statisticsFit, theStoreIsAsTheModel } from "./end-state.js";
import { guardsHold } from "./guards.js";
import { reservationsEnd, slotsAreNotOverfull } from "./holds.js";
import { deadKeysTakeNothing, plansFollowTheRecords } from "./plans.js";
import {
  refusalsHaveReasons,
  rotationsAreFinal,
  verdictsAreDeserved,
  viewsAreTrue,
} from "./verdicts.js";
import { limitsAreEmptied, limitsHaveRoomUntilTaken } from "./windows.js";

/** Laws about one step of the store, checked with each, beside that it comes to what the model says. */
export function stepLaws(): StepLaws {
  return {
    charge: {
      "nothing is taken for a key that is dead": deadKeysTakeNothing,
      "a plan follows the records that it rests on": plansFollowTheRecords,
    },
    commit: {
      "the audit log tells exactly the change": theLogTellsTheChange,
      "no two states share a version": statesHaveVersionsOfTheirOwn(),
      "lists and names agree with the records": listsFollowTheRecords,
      "a limit that is reset or gone is empty": limitsAreEmptied,
    },
  };
}

/** Laws about all that happened. Each answers what broke it, or null. */
export const HISTORY_LAWS: Readonly<
  Record<string, (world: World) => string | null | Promise<string | null>>
> = {
  "every call settles": callsSettle,
  "errors are latchkey's own": errorsAreExpected,
  "no more uses are admitted than granted": usesAreNotOverspent,
  "no more slots are held at once than the limit says": slotsAreNotOverfull,
  "every reservation ends, and nothing is lost with it": reservationsEnd,
  "no more units are admitted in a window than its limit": windowsAreNotOverspent,
  "a limit refuses nobody while it has room": limitsHaveRoomUntilTaken,
  "uses are taken in an order that agrees with time": usesAreTakenInOrder,
  "each verdict is deserved while it is asked for": verdictsAreDeserved,
  "each verdict has a charge of its own": verdictsHaveCharges,
  "what is shown is what was set": viewsAreTrue,
  "refusals have reasons": refusalsHaveReasons,
  "rotations are final": rotationsAreFinal,
  "guards let nobody in without a good key, and answer in time": guardsHold,
  "the repeat of a request takes nothing again": repeatsAreAlike,
  "nothing of one workspace is told in another": workspacesAreApart,
  "lists are whole, and totals right": listsAreWhole,
  "the audit log of a key is whole": logsAreWhole,
  "statistics tell each verdict once": statisticsFit,
  "the store holds what was written to it": theStoreIsAsTheModel,
};
