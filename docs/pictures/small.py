"""A PNG of few colours: the browser reads the picture and chooses them, and what is left to store is small."""

import base64
import struct
import zlib

from playwright.sync_api import Page

_CHOOSE = """
async (address) => {
  const picture = await createImageBitmap(await (await fetch(address)).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(picture, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, picture.width, picture.height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const parts = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  const all = [...counts].sort((a, b) => b[1] - a[1]).map(([pixel, count]) => (
    { pixel, count, colour: parts(pixel), far: Infinity, place: 0 }
  ));
  const colours = [];
  const take = (one) => {
    const place = colours.push(one.colour) - 1;
    for (const each of all) {
      const far = one.colour.reduce((sum, part, at) => sum + (part - each.colour[at]) ** 2, 0);
      if (far < each.far) Object.assign(each, { far, place });
    }
  };
  all.slice(0, 96).forEach(take);
  const wrong = (one) => one.far * Math.sqrt(one.count);
  while (colours.length < 256) {
    const worst = all.reduce((most, one) => (wrong(one) > wrong(most) ? one : most));
    if (worst.far === 0) break;
    take(worst);
  }
  const places = new Map(all.map((one) => [one.pixel, one.place]));
  const found = Uint8Array.from(pixels, (pixel) => places.get(pixel));
  let text = "";
  for (let at = 0; at < found.length; at += 32768) text += String.fromCharCode(...found.subarray(at, at + 32768));
  return { wide: picture.width, high: picture.height, colours: colours.flat(), places: btoa(text) };
}
"""


def small(page: Page, png: bytes) -> bytes:
    """The same picture with 256 colours: those that most of it has, then those that it would miss most.

    Args:
        page: An empty one, in which the picture is read.
        png: The picture.
    """
    found = page.evaluate(_CHOOSE, f"data:image/png;base64,{base64.b64encode(png).decode()}")
    wide, high, places = found["wide"], found["high"], base64.b64decode(found["places"])
    rows = b"".join(b"\0" + places[row * wide : (row + 1) * wide] for row in range(high))
    header = struct.pack(">IIBBBBB", wide, high, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", bytes(found["colours"])), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
