import { groupTasks, runTasks } from "./run-tasks.js";
import { TASKS } from "./tasks.js";
import { quartiles, ratios } from "./measure/statistics.js";
const quick = process.argv[3]==="quick";
for (const group of groupTasks(TASKS.filter(t=>t.id.includes(process.argv[2]??"")), quick)) {
  let t = performance.now();
  await runTasks(group, quick, ({measurements}) => {
    for (const m of measurements) 
    console.log(m.id.padEnd(40), m.sides.map(s=>`${s.name} ${quartiles(s.samples).median.toFixed(2)} (${ratios(s.samples,m.sides[0]!.samples).median.toFixed(2)})`).join("  "), Math.round(performance.now()-t)+"ms", (m.notes??[]).join(";"));
    t=performance.now();
  });
}
