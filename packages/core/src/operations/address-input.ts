import { z } from "zod";
import {
  ADDRESS_RANGE_ERROR,
  canonicalAddressRange,
  MAX_ADDRESS_RANGES,
} from "../rules/address.js";
import { list, orRequired, readBy } from "./input.js";

const addressRange = z
  .string({ error: orRequired(ADDRESS_RANGE_ERROR) })
  .max(128, { error: ADDRESS_RANGE_ERROR })
  .transform(readBy(canonicalAddressRange, ADDRESS_RANGE_ERROR));

/** Addresses and ranges, of an API or a key. Each is kept in its one form, and one that is given twice counts once. */
export const ipWhitelist = list(addressRange, MAX_ADDRESS_RANGES, "addresses and ranges").transform(
  (entries) => [...new Set(entries)],
);
