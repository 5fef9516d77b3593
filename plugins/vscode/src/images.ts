import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Segment } from "podd";


/** podd accepts so many bytes of images in a prompt. */
const most = 10 << 20;

/** imageTypes are the endings of the files that podd takes. */
export const imageTypes = ["png", "jpg", "jpeg", "gif", "webp"];

/** images reads image files as segments of a prompt. podd looks at what they are. */
export async function images(files: string[]): Promise<Segment[]> {
  const read: Segment[] = [];
  let left = most;
  for (const file of files) {
    const { size } = await fs.stat(file);
    left -= size;
    if (left < 0) throw new Error(`${path.basename(file)} is too large: the images of a prompt can have 10 MiB together`);
    if (size === 0) throw new Error(`${path.basename(file)} is empty`);
    const data = await fs.readFile(file);
    read.push({ kind: { $case: "image", value: { data, name: path.basename(file), mediaType: "", image: undefined } } });
  }
  return read;
}

/** starts are how the images begin that the page shows. */
const starts: [type: string, start: RegExp][] = [
  ["png", /^\x89PNG\r\n\x1a\n/],
  ["jpeg", /^\xff\xd8\xff/],
  ["gif", /^GIF8[79]a/],
  ["webp", /^RIFF[^]{4}WEBPVP8/],
];

/** dataURI is an image as an address that holds its bytes; undefined for bytes that are no image of a known type. */
export function dataURI(bytes: Uint8Array): string | undefined {
  const data = Buffer.from(bytes);
  const start = data.toString("latin1", 0, 16);
  const type = starts.find(([, begins]) => begins.test(start))?.[0];
  return type && data.length <= most ? `data:image/${type};base64,${data.toString("base64")}` : undefined;
}
