import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Load } from "../http/load.js";
import type { Listening } from "../http/server.worker.js";
import { interleave } from "../measure/interleave.js";
import { packageFile } from "../package-file.js";
import { GUARDED } from "../questions.js";
import type { Work } from "./work.js";

const WORKER = packageFile("dist/http/server.worker.js");
const PATH = "/v1/keys.verifyKey";
const CONNECTIONS = 64;

/** Measures keys.verifyKey on node:http against a hand-written server with the same answers, each in its own process. */
export const verifyOverHttp: Work = async ({ scale }) => {
  const children: ChildProcess[] = [];
  const shapes: string[] = [];
  const loads: Load[] = [];
  const sides = ["hand-written", "latchkey"];
  for (const side of sides) {
    const child = fork(WORKER, [side, String(scale.keys)]);
    children.push(child);
    const [message] = await once(child, "message");
    const { port, token, secrets } = message as Listening;
    const { input } = GUARDED;
    shapes.push(await responseShape(port, token, JSON.stringify(input(secrets[0] ?? "", ""))));
    loads.push(
      await Load.open(port, CONNECTIONS, {
        path: PATH,
        token,
        bodies: secrets.map((secret) => JSON.stringify(input(secret, ""))),
        expected: '"code":"VALID"',
      }),
    );
  }
  if (shapes[0] !== shapes[1]) throw new Error(`the servers answer unlike: ${shapes.join("; ")}`);
  const samples = await interleave(
    loads.map((load, index) => ({
      name: sides[index] as string,
      run: (requests) => load.run(requests),
    })),
    { ...scale.slowPace, sliceMs: scale.slowPace.sliceMs * 2 },
  );
  for (const load of loads) load.close();
  for (const child of children) child.disconnect();
  const title = `keys.verifyKey over HTTP, ${CONNECTIONS} connections`;
  return [{ id: "http/verify", title, unit: "µs", sides: samples }];
};

/** Sorted names of the headers and fields of a response. Values differ, because each server has its own keys. */
async function responseShape(port: number, token: string, body: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${PATH}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body,
  });
  const verdict = (await response.json()) as object;
  const fields = Object.entries(verdict).map(([name, value]) => `${name}: ${typeof value}`);
  return [...response.headers.keys(), ...fields].sort().join(", ");
}
