export {
  DAMAGE_KINDS,
  type Damage,
  type DamagedRecord,
  type DamageKind,
} from "./contract/damaged-records.js";
export type { SaveState } from "./contract/lost-writes.js";
export { CONTRACTS, type ContractSection } from "./contract/sections.js";
export {
  type DeadlineOptions,
  describeDeadlines,
  type UnreliablePeer,
} from "./describe-deadlines.js";
export { describeKeyStore, type KeyStoreOptions } from "./describe-key-store.js";
export {
  type OpenAgain,
  type OpenEmptyStore,
  runContract,
  type StoreContract,
  type TestContext,
} from "./fixtures/context.js";
export { aLimit, aMoment, aPlan, aRequest, charge, usedOf } from "./fixtures/plans.js";
export { race } from "./fixtures/race.js";
export {
  aChange,
  aRecord,
  at,
  commit,
  idOf,
  load,
  NOW,
  usesOf,
  WORKSPACE,
} from "./fixtures/records.js";
export type { Skip } from "./skips.js";
