/**
 * The version of a record after a change. It rises where whoever knows the record must read it again: with every change of
 * configuration. Uses and windows never raise it, nor does setting the uses left: verifications move these all the time.
 *
 * @param version - A whole number >= 1.
 */
export function versionAfter(version: number, changesConfiguration: boolean): number {
  return changesConfiguration ? version + 1 : version;
}
