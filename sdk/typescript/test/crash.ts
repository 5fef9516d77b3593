// Follows a pod over a kill -9 of podd: node crash.js POD. It prints what the test needs to see, one line each.
import { Client, places } from "podd";

async function main(pod: string): Promise<void> {
  const podd = new Client(places());
  const seqs: number[] = [];
  let after: Promise<unknown> | undefined;
  await podd.submit(pod, "before", { requestId: "r1" });
  const lost = () => {
    if (after) return;
    console.log("away");
    after = podd.submit(pod, "after", { requestId: "r2" });
  };
  let ended = 0;
  for await (const m of podd.stream(pod, { deltas: true, lost })) {
    if ((m.kind?.$case === "delta" || m.kind?.$case === "inFlight") && !after) console.log("live");
    if (m.kind?.$case !== "entry") continue;
    seqs.push(m.kind.value.seq);
    if (m.kind.value.kind?.$case === "turnEnded" && ++ended === 2) break;
  }
  await after;
  console.log(JSON.stringify(seqs));
  podd.close();
}

void main(process.argv[2]!);
