import { apiKey } from "@better-auth/api-key";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { DAY_MS } from "./imports.js";

/** The part of better-auth's API that is used here. Its own types depend on its options, and take the compiler a long time. */
interface ApiKeyEndpoints {
  createApiKey(input: { body: object }): Promise<{ readonly id: string; readonly key: string }>;
  updateApiKey(input: { body: object }): Promise<unknown>;
}

/** Settings of the keys that better-auth issues, one for each way in which its keys can differ. */
export const SETTINGS = {
  plain: {},
  full: {
    name: "north pier",
    prefix: "tide_",
    expiresIn: 30 * 86_400,
    metadata: { berth: 4, tags: ["a"] },
    permissions: { tides: ["read", "write"], files: ["read"] },
    remaining: 7,
    rateLimitEnabled: true,
    rateLimitMax: 5,
    rateLimitTimeWindow: 60_000,
  },
  daily: { remaining: 3, refillAmount: 10, refillInterval: DAY_MS, rateLimitEnabled: false },
  hourly: { remaining: 3, refillAmount: 10, refillInterval: 3_600_000, rateLimitEnabled: false },
  other: { configId: "internal" },
} as const;

/** One of {@link SETTINGS}. */
export type SettingName = keyof typeof SETTINGS;

/**
 * Makes better-auth create its tables in a database, a key for each setting, and a disabled one.
 *
 * @returns The secrets, and the id of their owner.
 */
export async function issueWithBetterAuth(database: unknown): Promise<{
  readonly secrets: Readonly<Record<SettingName | "disabled", string>>;
  readonly userId: string;
}> {
  const options = {
    baseURL: "http://localhost",
    secret: "no secret at all, for a test only",
    database: database as never,
    logger: { disabled: true },
    telemetry: { enabled: false },
    plugins: [
      apiKey([
        { configId: "default", enableMetadata: true },
        {
          configId: "internal",
          startingCharactersConfig: { shouldStore: false },
          defaultPrefix: "int_",
        },
      ]),
    ],
  };
  await (await getMigrations(options)).runMigrations();
  const auth = betterAuth(options);
  const api = auth.api as unknown as ApiKeyEndpoints;
  const { internalAdapter } = await auth.$context;
  const user = { email: "owner@tides.example", name: "Owner", emailVerified: true };
  const { id: userId } = await internalAdapter.createUser(user, { method: "anonymous" });
  const secrets: Record<string, string> = {};
  for (const [name, body] of Object.entries(SETTINGS))
    secrets[name] = (await api.createApiKey({ body: { userId, ...body } })).key;
  const disabled = await api.createApiKey({ body: { userId } });
  await api.updateApiKey({ body: { keyId: disabled.id, userId, enabled: false } });
  return {
    secrets: { ...(secrets as Record<SettingName, string>), disabled: disabled.key },
    userId,
  };
}
