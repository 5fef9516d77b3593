"""The types in v1.pyi are those of what v1.py makes."""
import ast
import enum
import pathlib
import unittest

from podd import v1

TYPES = pathlib.Path(v1.__file__).with_suffix(".pyi")


class Types(unittest.TestCase):
    def test_types(self):
        tree = ast.parse(TYPES.read_text())
        compile(tree, TYPES, "exec")  # It finds more than a parser, such as an argument's second use.
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        self.assertGreater(len(classes), 100)
        for node in classes:
            made = getattr(v1, node.name)
            if isinstance(made, enum.EnumMeta):
                values = [a.targets[0].id for a in node.body if isinstance(a, ast.Assign)]
                self.assertEqual(values, list(made.__members__), node.name)
            elif hasattr(made, "DESCRIPTOR"):
                fields = {a.target.id for a in node.body if isinstance(a, ast.AnnAssign)}
                self.assertEqual(fields, set(made.DESCRIPTOR.fields_by_name) - {"from"}, node.name)


if __name__ == "__main__":
    unittest.main()
