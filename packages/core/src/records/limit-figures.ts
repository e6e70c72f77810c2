import { corruptRecord } from "../errors.js";
import { LIMIT_ALGORITHMS } from "../rules/limit-state.js";
import { fromWireFigures, isCountable, type RateLimit } from "../rules/rate-limit.js";
import type { BodyReader } from "./body.js";

/** Reads what decides of a limit, as `toWireFigures` wrote it into a record. @throws LatchkeyError `STORE_CORRUPT`. */
export function readFigures(body: BodyReader): Omit<RateLimit, "name"> {
  const limit = body.positive("limit");
  const figures = fromWireFigures({
    limit,
    duration: body.positive("duration"),
    algorithm: body.wordOr("algorithm", LIMIT_ALGORITHMS, "fixed"),
    burst: body.positiveOr("burst", limit),
    shadow: body.flag("shadow"),
  });
  if (!isCountable(figures)) throw corruptRecord("burst");
  return figures;
}
