import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes on the heap after garbage collection. */
export function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
