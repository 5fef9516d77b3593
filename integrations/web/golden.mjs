import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";

const dir = path.join(import.meta.dirname, "testdata", "golden");

/** The side of a block of pixels that is compared as one, in pixels of a picture: text may be drawn a little otherwise. */
const side = 8;
/** By how much a channel of a block may differ, of 255. */
const most = 20;
/** The share of blocks that may differ by more. */
const share = 0.005;

/** The flags with which text and dates look the same on each machine. */
export const flags = ["--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb", "--hide-scrollbars", "--lang=en-US"];

/** Golden compares what a page shows with the pictures of testdata/golden, at half their size. With PODD_GOLDEN it makes them. */
export class Golden {
  #page;

  static async open(browser) {
    const g = new Golden();
    // Chromium has all that it takes to read pictures.
    g.#page = await browser.newPage();
    return g;
  }

  /** check takes a picture until it is the one of that name; shot settles the page and takes one. */
  async check(name, shot) {
    const file = path.join(dir, `${name}.png`);
    if (process.env.PODD_GOLDEN) {
      fs.mkdirSync(dir, { recursive: true });
      fs.writeFileSync(file, Buffer.from(await this.#small(await shot()), "base64"));
      return;
    }
    let last = "";
    for (let end = Date.now() + 20_000; Date.now() < end; await new Promise((go) => setTimeout(go, 200))) {
      const got = await this.#small(await shot());
      last = await this.#differs(got, fs.readFileSync(file).toString("base64"));
      if (!last) return;
      if (process.env.PODD_SCREENSHOTS) fs.writeFileSync(path.join(process.env.PODD_SCREENSHOTS, `${name}.png`), Buffer.from(got, "base64"));
    }
    assert.fail(`${name} ${last}; PODD_SCREENSHOTS=DIR keeps what the page shows, make golden renews the pictures`);
  }

  /** small is a picture at half its size, with 32 levels a channel. */
  #small(shot) {
    return this.#page.evaluate(async (data) => {
      const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
      const [w, h] = [image.width / 2, image.height / 2];
      const canvas = new OffscreenCanvas(w, h);
      const draw = canvas.getContext("2d");
      draw.imageSmoothingQuality = "high";
      draw.drawImage(image, 0, 0, w, h);
      const pixels = draw.getImageData(0, 0, w, h);
      pixels.data.forEach((v, i) => (pixels.data[i] = i % 4 === 3 ? 255 : Math.min(255, Math.round(v / 8) * 8)));
      draw.putImageData(pixels, 0, 0);
      const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
      return btoa(Array.from(bytes, (c) => String.fromCharCode(c)).join(""));
    }, shot.toString("base64"));
  }

  /** differs says how two pictures differ; empty if they do not. */
  #differs(got, want) {
    return this.#page.evaluate(
      async ({ all, side, most, share }) => {
        const [a, b] = await Promise.all(
          all.map(async (data) => {
            const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
            const draw = new OffscreenCanvas(image.width, image.height).getContext("2d");
            draw.drawImage(image, 0, 0);
            return draw.getImageData(0, 0, image.width, image.height);
          }),
        );
        if (a.width !== b.width || a.height !== b.height) return `has ${a.width}×${a.height} pixels, the picture ${b.width}×${b.height}`;
        let blocks = 0;
        const other = [];
        for (let y = 0; y + side <= a.height; y += side) {
          for (let x = 0; x + side <= a.width; x += side) {
            const sums = [0, 0, 0];
            for (let j = y; j < y + side; j++) for (let i = x; i < x + side; i++) for (const c of [0, 1, 2]) sums[c] += a.data[(j * a.width + i) * 4 + c] - b.data[(j * a.width + i) * 4 + c];
            blocks++;
            if (Math.max(...sums.map(Math.abs)) / (side * side) > most) other.push(`${x},${y}`);
          }
        }
        return other.length > share * blocks ? `differs in ${other.length} of ${blocks} blocks: ${other.slice(0, 12).join(" ")}` : "";
      },
      { all: [got, want], side, most, share },
    );
  }
}
