import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { expect, onTestFinished, test } from "vitest";

const PACKAGE = fileURLToPath(new URL("../packages/latchkey", import.meta.url));

const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));

/** Opens each store by its URL, and verifies a key on it. Prints the codes, and the version of the HTTP API. The servers do not exist. */
const PROGRAM = `
  import { createLatchkey, openApiDocument, openStore } from "latchkey";

  async function codeOn(url) {
    const latchkey = createLatchkey({ store: openStore(url) });
    try {
      const { apiId } = await latchkey.createApi({ name: "payments" });
      const { key } = await latchkey.createKey({ apiId });
      return (await latchkey.verifyKey({ key })).code;
    } catch ({ code }) {
      return code;
    } finally {
      await latchkey.close();
    }
  }

  async function run() {
    const codes = [];
    for (const url of ["memory:", "sqlite::memory:", "redis://127.0.0.1:1", "postgres://127.0.0.1:1/app"])
      codes.push(await codeOn(url));
    console.log(...codes, openApiDocument().info.version);
  }

  run();
`;

/** What application bundlers substitute for `import.meta.url` in CommonJS. */
const PLACES = {
  "esbuild, nothing": "undefined",
  "webpack, the path of the file on the machine that made the bundle": JSON.stringify(
    "file:///built/elsewhere/node_modules/latchkey/dist/index.js",
  ),
};

test.each(Object.entries(PLACES))(
  "a bundle that is CommonJS finds the driver of each store beside it, and knows the version of the HTTP API, whatever stands for import.meta.url: %s",
  async (_, place) => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-bundle-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync(join(PACKAGE, "node_modules"), join(folder, "node_modules"));
    const file = join(folder, "bundle.cjs");
    await build({
      cwd: PACKAGE,
      input: "program",
      platform: "node",
      external: ["jose"],
      transform: { define: { "import.meta.url": place } },
      plugins: [
        {
          name: "program",
          resolveId: (id) => (id === "program" ? join(PACKAGE, "program.js") : null),
          load: (id) => (id === join(PACKAGE, "program.js") ? PROGRAM : null),
        },
      ],
      output: { file, format: "cjs", codeSplitting: false },
    });
    const output = execFileSync(process.execPath, [file], {
      encoding: "utf8",
      // pnpm sets NODE_PATH for programs that it starts, and then a driver would be found from anywhere.
      env: { ...process.env, NODE_PATH: "" },
      timeout: 20_000,
    });
    expect(output).toBe(`VALID VALID STORE_UNAVAILABLE STORE_UNAVAILABLE ${version}\n`);
  },
  60_000,
);

test("a program that a misspelt option ends shows the line of the error, and no page of code", () => {
  const program = `
    import { createLatchkey, memoryStore } from "latchkey";
    createLatchkey({ store: memoryStore(), clock: "fast" });
  `;
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { cwd: PACKAGE, encoding: "utf8" },
  );
  expect(status).toBe(1);
  const lines = stderr.split("\n");
  expect(lines).toContain('TypeError: "clock" must be a function');
  expect(lines[1]).toMatch(/^throw TypeError\(/);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(200);
});
