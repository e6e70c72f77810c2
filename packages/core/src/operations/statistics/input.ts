import { z } from "zod";
import { GRANULARITIES } from "../../statistics/buckets.js";
import type { EpochMs } from "../../time.js";
import { orRequired } from "../input.js";
import { instant } from "../time-input.js";

/** The end of the year 9999: calendar arithmetic stays exact a long way beyond it. */
const LATEST: EpochMs = 253_402_300_799_999;

/** An edge of a range of statistics. */
export const rangeInstant = instant(0, LATEST);

export const granularity = z.enum(GRANULARITIES, {
  error: orRequired('must be "hour", "day" or "month"'),
});
