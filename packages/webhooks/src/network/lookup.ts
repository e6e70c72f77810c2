import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { mayConnect } from "./address.js";

/** Resolves a name to all of its addresses, as `lookup` of `node:dns` does. */
export type Resolve = (
  name: string,
  options: LookupAllOptions,
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** A name resolves to an address that is not allowed. */
export class PrivateAddressError extends Error {
  override readonly name = "PrivateAddressError";
}

/**
 * Creates the function that a connection resolves its name with. The connection uses the address that was checked here, and the name is not
 * resolved again. If one of several addresses is not allowed, none is used, because the name may be an attack.
 */
export function checkedLookup(
  allow: readonly string[],
  resolve: Resolve = systemLookup,
): LookupFunction {
  return (name, options, callback) => {
    resolve(name, { ...options, all: true }, (error, addresses = []) => {
      const [first] = addresses;
      if (error !== null) callback(error, []);
      else if (first === undefined) callback(new Error("the name has no address"), []);
      else if (!addresses.every(({ address }) => mayConnect(address, allow)))
        callback(new PrivateAddressError("the name leads to a private address"), []);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
