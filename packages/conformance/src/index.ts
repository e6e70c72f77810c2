export { DAMAGE_KINDS, type Damage, type DamageKind } from "./damage.js";
export { describeKeyStore, type KeyStoreOptions, type Skip } from "./describe-key-store.js";
export { CAPABILITIES, type Capability } from "./promises.js";
export type { Stage, StorePromise } from "./store-promise.js";
