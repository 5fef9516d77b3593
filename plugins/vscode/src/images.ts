import * as fs from "node:fs/promises";
import * as path from "node:path";

import type { Segment } from "./gen/podd/v1/item";

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
