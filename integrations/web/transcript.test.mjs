// The page's transcript passes the cases of pkg/transcript. Go turns their messages into JSON.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";

import { picture } from "../../internal/web/page/format.js";
import { Transcript } from "../../internal/web/page/transcript/fold.js";

/** plain is a block as in JSON, without a question's time of expiry. */
function plain(b) {
  const p = JSON.parse(JSON.stringify(b));
  delete p.call?.question?.expires;
  return p;
}

for (const c of JSON.parse(fs.readFileSync(process.env.CASES, "utf8"))) {
  test(c.name, () => {
    const t = new Transcript();
    let mirror = [];
    c.messages.forEach((m, i) => {
      if (m === null) return t.lost();
      const { drop, put } = t.take(m);
      assert.deepEqual(drop, c.changes[i].drop ?? [], `what message ${i} drops`);
      assert.deepEqual(put.map((b) => b.id), (c.changes[i].put ?? []).map((p) => p.block.id), `what message ${i} puts`);
      mirror = mirror.filter((b) => !drop.includes(b.id));
      for (const b of put) {
        const at = mirror.findIndex((s) => s.id === b.id);
        if (at >= 0) mirror[at] = b;
        else mirror.push(b);
      }
      assert.deepEqual(t.all(), mirror.filter((b) => b.state !== "lost"), "what changed adds up to the whole");
    });
    if (!c.last) assert.deepEqual(t.all().map(plain), c.blocks.map(plain));
  });
}

test("a picture is a line", () => {
  const image = { name: "shot.png", media_type: "image/png", width: 800, height: 600, bytes: "41499", digest: "3f" };
  assert.equal(picture(image), "[picture shot.png, PNG 800×600, 41 KB]");
  assert.equal(picture({ ...image, name: "", media_type: "image/jpeg", bytes: "999" }), "[picture without a name, JPEG 800×600, 999 bytes]");
});
