import { createLocalJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { createTokenSigner } from "./token-signer.js";

const seed = Uint8Array.from({ length: 32 }, (_, at) => at + 1);
const ring = { current: "a", keys: { a: seed } };

test("the public key is that of RFC 8032 section 7.1, test 1", async () => {
  const bytes = Buffer.from(
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "hex",
  );
  const { keys } = await createTokenSigner({ current: "a", keys: { a: bytes } }).publicKeys();
  expect(keys).toEqual([
    {
      kty: "OKP",
      crv: "Ed25519",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      kid: "a",
      alg: "EdDSA",
      use: "sig",
    },
  ]);
});

test.each([
  "ERR_MODULE_NOT_FOUND",
  // The error of a bundler that built the program without jose.
  "MODULE_NOT_FOUND",
])(
  "says how to install jose if it is missing, and finds it once it is installed: %s",
  async (code) => {
    let isThere = false;
    const missing = Object.assign(new Error("Cannot find package 'jose' imported from core"), {
      code,
    });
    const signer = createTokenSigner(ring, () =>
      isThere ? import("jose") : Promise.reject(missing),
    );
    await expect(signer.ready()).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
      reason: "driver-missing",
      message: "jose is not installed: run `npm install jose@6`",
    });
    isThere = true;
    expect(await signer.sign({ sub: "key_1" })).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  },
);

test("signs the given claims, so that the public key can verify them", async () => {
  const signer = createTokenSigner(ring);
  const token = await signer.sign({ sub: "key_1", exp: 4_102_444_800 });
  const { payload, protectedHeader } = await jwtVerify(
    token,
    createLocalJWKSet(await signer.publicKeys()),
  );
  expect(payload).toEqual({ sub: "key_1", exp: 4_102_444_800 });
  expect(protectedHeader).toEqual({ alg: "EdDSA", kid: "a", typ: "JWT" });
});

test("a seed whose text has every kind of character signs like any other", async () => {
  // Its base64 has both characters that base64url writes differently.
  const bytes = Uint8Array.from({ length: 32 }, (_, at) => 255 - at * 5);
  expect(Buffer.from(bytes).toString("base64")).toMatch(/\+.*\/|\/.*\+/);
  const signer = createTokenSigner({ current: "a", keys: { a: bytes } });
  const keys = createLocalJWKSet(await signer.publicKeys());
  expect((await jwtVerify(await signer.sign({ sub: "key_1" }), keys)).payload.sub).toBe("key_1");
});

test.each([31, 33])("a seed of %i bytes is refused", (length) => {
  const keys = { a: Uint8Array.from({ length }, (_, at) => at) };
  expect(() => createTokenSigner({ current: "a", keys })).toThrow(
    new TypeError('"tokens.keys.a" must be 32 bytes'),
  );
});

test.each(["a", "https://keys.example", "é\n", "😀".repeat(256)])(
  "the issuer may be %j",
  (issuer) => {
    expect(createTokenSigner({ ...ring, issuer }).issuer).toBe(issuer);
  },
);

test("without an issuer it has none", () => {
  expect(createTokenSigner(ring).issuer).toBeNull();
  expect(createTokenSigner({ ...ring, issuer: undefined }).issuer).toBeNull();
});

test.each(["", "a".repeat(257), 7 as unknown as string, {} as unknown as string])(
  "the issuer may not be %j",
  (issuer) => {
    expect(() => createTokenSigner({ ...ring, issuer })).toThrow(
      new TypeError('"tokens.issuer" must be a string of 1 to 256 characters'),
    );
  },
);

test.each([
  ["of another library that is missing", "ERR_MODULE_NOT_FOUND", "Cannot find package 'other'"],
  ["of jose, but not that it is missing", "EACCES", "cannot read 'jose'"],
])("a failure %s is passed on unchanged", async (_, code, message) => {
  const failure = Object.assign(new Error(message), { code });
  await expect(createTokenSigner(ring, () => Promise.reject(failure)).ready()).rejects.toBe(
    failure,
  );
});

test("any other failure to load it is passed on unchanged", async () => {
  const broken = new Error("broken");
  await expect(createTokenSigner(ring, () => Promise.reject(broken)).ready()).rejects.toBe(broken);
});
