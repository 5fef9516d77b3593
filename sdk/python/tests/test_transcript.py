"""The shared cases of pkg/transcript: python3 -m unittest discover -s tests."""
import base64
import dataclasses
import json
import pathlib
import unittest

from podd import Block, Transcript, v1

CASES = pathlib.Path(__file__).parents[3] / "pkg" / "transcript" / "testdata"
IMAGE = ("name", "media_type", "width", "height", "bytes", "digest")
NUMBERS = {"seq", "turn", "call_seq", "count", "bytes", "input_tokens", "cached_input_tokens", "cache_write_tokens",
           "output_tokens", "reasoning_tokens", "requests"}


def plain(b: Block) -> dict:
    """A block as the cases have it: large numbers are strings, and what is empty is left out."""
    block = {f.name: getattr(b, f.name) for f in dataclasses.fields(b)}
    block["images"] = [{name: getattr(i, name) for name in IMAGE} for i in b.images]
    for name in ("code", "images", "call", "alert", "end"):
        if not block[name]:
            del block[name]
    return strings(block)


def strings(value):
    if isinstance(value, dict):
        return {k: str(v) if k in NUMBERS else strings(v) for k, v in value.items() if k != "expires"}
    return [strings(v) for v in value] if isinstance(value, list) else value


def whole(put: dict, blocks: list) -> dict:
    """The block of a change, whose growing part lacks the bytes that were kept."""
    block = put["block"]
    grows = "detail" if block["kind"] == "call" else "text"
    before = next((b[grows] for b in blocks if b["id"] == block["id"]), "")
    return strings({**block, grows: before.encode()[: put["kept"]].decode() + block[grows]})


def apply(blocks: list, drop: list, put: list) -> list:
    left = [b for b in blocks if b["id"] not in drop]
    for b in put:
        at = next((i for i, other in enumerate(left) if other["id"] == b["id"]), len(left))
        left[at : at + 1] = [b]
    return left


class SharedCases(unittest.TestCase):
    maxDiff = None

    def test_cases(self):
        files = sorted(CASES.glob("*.json"))
        self.assertGreater(len(files), 10)
        for file in files:
            with self.subTest(file.name):
                self.case(json.loads(file.read_text()))

    def case(self, case):
        t, blocks = Transcript(), []
        for body, want in zip(case["wire"], case["changes"]):
            drop, put = [], []
            if body:
                change = t.take(v1.StreamResponse.FromString(base64.b64decode(body)))
                drop, put = change.drop, [plain(b) for b in change.put]
            else:
                t.lost()
            self.assertEqual(drop, want.get("drop", []))
            self.assertEqual(put, [whole(p, blocks) for p in want.get("put", [])])
            blocks = apply(blocks, drop, put)
            self.assertEqual([plain(b) for b in t.all()], [b for b in blocks if b["state"] != "lost"])
        if "last" not in case:
            self.assertEqual([plain(b) for b in t.all()], strings(case["blocks"]))


if __name__ == "__main__":
    unittest.main()
