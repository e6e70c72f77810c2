/** What an error code of Node.js says about a connection that has failed, for any store behind a network. */
const PROBLEMS: readonly (readonly [codes: RegExp, sentence: string])[] = [
  [/^EAI_AGAIN$/, "its host could not be looked up: the name server did not answer"],
  [/^ECONNREFUSED$/, "nothing listens at its address: check host and port, and that it runs"],
  [/^E(HOST|NET)UNREACH$/, "there is no route to its address: check host and network"],
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    "its certificate has expired, or is not valid yet: renew it, or set the clock of this machine",
  ],
  [
    /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    "its certificate is for another host name: connect by the name in the certificate",
  ],
];

/**
 * The problem behind an error code of Node.js, in words for the operator, with the code; null for an unknown one.
 *
 * @param own - What other codes mean for this store. The problems that all stores share come first.
 */
export function connectionProblem(code: string, own: typeof PROBLEMS): string | null {
  const known = [...PROBLEMS, ...own].find(([codes]) => codes.test(code));
  return known === undefined ? null : `${known[1]} (${code})`;
}
