import type { StepLaws } from "../world/server.js";
import type { World } from "../world/world.js";
import { usesAreNotOverspent, usesAreTakenInOrder } from "./admissions.js";
import { callsSettle, errorsAreExpected, repeatsAreAlike, workspacesAreApart } from "./calls.js";
import {
  listsFollowTheRecords,
  statesHaveVersionsOfTheirOwn,
  theLogTellsTheChange,
} from "./changes.js";
import { verdictsHaveCharges } from "./charges.js";
import { listsAreWhole, logsAreWhole, statisticsFit, theStoreIsAsTheModel } from "./end-state.js";
import { guardsHold } from "./guards.js";
import { endsAreTold, reservationsEnd, slotsAreNotOverfull } from "./holds.js";
import { expiriesAreNoticed } from "./notices.js";
import {
  deadKeysTakeNothing,
  plansFollowTheRecords,
  refillsAreCounted,
  settledRefillsAreCounted,
} from "./plans.js";
import { readersMissNothing } from "./readers.js";
import { repeatedWritesAreAlike } from "./repeated-writes.js";
import { rootKeysHold } from "./root-keys.js";
import { sessionsHold } from "./sessions.js";
import { limitsAreNotOverspent, shadowsRefuseNobody } from "./spans.js";
import {
  refusalsHaveReasons,
  rotationsAreFinal,
  verdictsAreDeserved,
  viewsAreTrue,
} from "./verdicts.js";
import { webhooksArrive } from "./webhooks.js";
import { limitsAreEmptied, limitsHaveRoomUntilTaken } from "./windows.js";

/** Laws about one step of the store, checked before each step. The server also compares the step's result with the model's. */
export function stepLaws(): StepLaws {
  return {
    charge: {
      "nothing is charged to an invalid key": deadKeysTakeNothing,
      "a charge follows the records": plansFollowTheRecords,
    },
    commit: {
      "the audit log matches the change": theLogTellsTheChange,
      "no two states share a version": statesHaveVersionsOfTheirOwn(),
      "lists and names match the records": listsFollowTheRecords,
      "a limit is empty after it is reset or removed": limitsAreEmptied,
      "each refill is counted once": refillsAreCounted,
    },
    settle: { "each refill is counted once": settledRefillsAreCounted },
  };
}

/** Laws about the whole history, checked at the end. Each returns how it was broken, or null. */
export const HISTORY_LAWS: Readonly<
  Record<string, (world: World) => string | null | Promise<string | null>>
> = {
  "every call settles": callsSettle,
  "errors are latchkey's own": errorsAreExpected,
  "no more uses are admitted than granted": usesAreNotOverspent,
  "no more slots are held at once than the limit says": slotsAreNotOverfull,
  "who ends a reservation is told so": endsAreTold,
  "every reservation ends, and nothing that it held is lost": reservationsEnd,
  "no more units are admitted than a limit allows": limitsAreNotOverspent,
  "a shadow limit refuses nobody": shadowsRefuseNobody,
  "a limit refuses nobody while it has room": limitsHaveRoomUntilTaken,
  "uses are linearizable": usesAreTakenInOrder,
  "each verdict was right at some moment during its call": verdictsAreDeserved,
  "each verdict has its own charge": verdictsHaveCharges,
  "reads return what was written": viewsAreTrue,
  "nothing is refused without a reason": refusalsHaveReasons,
  "rotations are final": rotationsAreFinal,
  "readers of events miss nothing, and get nothing twice": readersMissNothing,
  "each expiry is noticed once": expiriesAreNoticed,
  "portal sessions work exactly until they end": sessionsHold,
  "webhooks arrive in order, or become dead letters": webhooksArrive,
  "root keys authenticate exactly while they are valid": rootKeysHold,
  "guards admit nobody without a valid key, and answer in time": guardsHold,
  "a repeated request takes nothing again": repeatsAreAlike,
  "a repeated write returns the same, and writes nothing again": repeatedWritesAreAlike,
  "no answer contains anything of another workspace": workspacesAreApart,
  "lists are complete, and totals are right": listsAreWhole,
  "the audit log of a key is complete": logsAreWhole,
  "statistics count each verdict once": statisticsFit,
  "the store has what was written, and nothing that was deleted": theStoreIsAsTheModel,
};
