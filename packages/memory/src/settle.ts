import {
  applyHoldStep,
  countedBySettle,
  type HoldMoment,
  type HoldResult,
  type HoldStep,
} from "@latchkey/core";
import { addStatistics } from "./statistics.js";
import type { Workspace } from "./workspace.js";

/** Applies a step to the holds of a workspace. */
export function settle(workspace: Workspace, step: HoldStep, moment: HoldMoment): HoldResult {
  const { now, revision } = moment;
  if (revision !== null && revision !== workspace.revision) return { kind: "stale" };
  const result = applyHoldStep(workspace.holds.at(now), step, now);
  const counted = countedBySettle(moment, result);
  if (counted !== null) addStatistics(workspace, counted);
  return result;
}
