// A code host that scans commits. It signs a report of the keys that it finds, and sends it to the company that issued them.

import { generateKeyPairSync, sign } from "node:crypto";

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** The public keys that the host publishes, by their ids. */
export const publicKeys = {
  "2030-01": pair.publicKey.export({ type: "spki", format: "pem" }).toString(),
};

/**
 * Signs a report of what was found.
 *
 * @param {readonly { readonly token: string, readonly type: string, readonly url: string, readonly source: string }[]} found
 */
export function signReport(found) {
  const body = JSON.stringify(found);
  const signature = sign("sha256", Buffer.from(body), pair.privateKey).toString("base64");
  return {
    body,
    headers: {
      "Content-Type": "application/json",
      "Github-Public-Key-Identifier": "2030-01",
      "Github-Public-Key-Signature": signature,
    },
  };
}
