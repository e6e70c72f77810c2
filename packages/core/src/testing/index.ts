export { type Failover, failingOver } from "./failing-over.js";
