// Invented values, the same throughout the document. None of them was ever issued.

/** 2026-03-10T12:00:00Z. */
export const START = Date.UTC(2026, 2, 10, 12);

export const API_ID = "api_01kka1b2c3d4e5f6g7h8j9k0m1";
export const KEY_ID = "key_01kka1b2c3d4e5f6g7h8j9k0m2";
export const NEXT_KEY_ID = "key_01kka1b2c3d4e5f6g7h8j9k0m7";
export const IDENTITY_ID = "id_01kka1b2c3d4e5f6g7h8j9k0m3";
export const ROLE_ID = "role_01kka1b2c3d4e5f6g7h8j9k0m5";
export const PERMISSION_ID = "perm_01kka1b2c3d4e5f6g7h8j9k0m6";
export const ROOT_KEY_ID = "root_01kka1b2c3d4e5f6g7h8j9k0m7";
export const NEXT_ROOT_KEY_ID = "root_01kka1b2c3d4e5f6g7h8j9k0n1";
export const EVENT_ID = "evt_01kka1b2c3d4e5f6g7h8j9k0m8";
export const REQUEST_ID = "req_01kka1b2c3d4e5f6g7h8j9k0m4";
export const RESERVATION_ID = "rsv_01kka1b2c3d4e5f6g7h8j9k0m9";

/** The checksum is wrong, so it can never be the secret of a key. */
export const SECRET = "acme_EXAMPLEexampleEXAMPLEexample";

/** For the same reason, it can never be the secret of a root key. */
export const ROOT_SECRET = "lk_root_EXAMPLEexampleEXAMPLEexample";

/** A key in a list. */
export const KEY = {
  id: KEY_ID,
  start: "acme_EXAM",
  apiId: API_ID,
  workspaceId: "ws_default",
  createdAt: START,
  roles: ["editor"],
  permissions: ["docs.read", "docs.write"],
  enabled: true,
  name: "build server",
  ownerId: "user_1",
  remaining: 998,
  ratelimit: { async: false, limit: 10, duration: 1_000 },
  ratelimits: [{ name: "default", limit: 10, duration: 1_000, autoApply: true, async: false }],
  identity: { id: IDENTITY_ID, externalId: "user_1", meta: { plan: "pro" } },
};

/** An identity as getIdentity returns it. */
export const IDENTITY = {
  id: IDENTITY_ID,
  externalId: "user_1",
  meta: { plan: "pro" },
  ratelimits: [{ name: "requests", limit: 1_000, duration: 60_000 }],
};
