import { z } from "zod";
import {
  ADDRESS_RANGE_ERROR,
  canonicalAddressRange,
  MAX_ADDRESS_RANGES,
} from "../../rules/address.js";
import { flag, list, orRequired, text } from "../input.js";

const addressRange = z
  .string({ error: orRequired(ADDRESS_RANGE_ERROR) })
  .max(128, { error: ADDRESS_RANGE_ERROR })
  .transform((value, context): string => {
    const canonical = canonicalAddressRange(value);
    if (canonical !== null) return canonical;
    context.addIssue({ code: "custom", message: ADDRESS_RANGE_ERROR });
    return z.NEVER;
  });

/** What an API is called: 3 to 256 characters. */
export const apiName = text(3, 256);

/** Whether an API is kept from being deleted. */
export const deleteProtection = flag;

/**
 * Addresses and CIDR ranges that the keys of an API may be used from, at most 1,000; empty: from anywhere. Each is kept in
 * its one form, and one that is given twice counts once.
 */
export const ipWhitelist = list(addressRange, MAX_ADDRESS_RANGES, "addresses and ranges").transform(
  (entries) => [...new Set(entries)],
);
