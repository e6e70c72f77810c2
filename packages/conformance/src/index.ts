export { DAMAGE_KINDS, type Damage, type DamageKind } from "./damage.js";
export { describeKeyStore, type KeyStoreOptions } from "./describe-key-store.js";
export {
  aChange,
  aKey,
  aKeyLimit,
  aKeyWithUses,
  aNamespacePlan,
  aNewKey,
  anApi,
  anIdentity,
  aPermission,
  aPlan,
  aRole,
  aRootKey,
  aRotation,
  aSharedLimit,
  aUsageChange,
  idOf,
  logOf,
  NOW,
  takeAdHoc,
  takeFrom,
  WORKSPACE,
} from "./fixtures.js";
export { CAPABILITIES, type Capability } from "./promises.js";
export { race } from "./race.js";
export type { Skip } from "./skips.js";
export { type OpenAgain, type OpenEmptyStore, runCheck } from "./stage.js";
export type { Stage, StorePromise } from "./store-promise.js";
