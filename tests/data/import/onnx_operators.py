#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes onnx_operators.txt: one line for each operator of ONNX's own domain, with data of its schema.

    python3 onnx_operators.py > onnx_operators.txt       (needs the package onnx)

A line is the name, the greatest number of inputs ("any": no bound), and the attributes of all versions of the operator
as name:TYPE=default, or name:TYPE if there is no default, or if the default is neither a number nor a word. Defaults are those
of the newest version.
"""
import onnx
from onnx import defs, helper

ANY = 2**31 - 1


def default(attribute):
    if not attribute.default_value.name:
        return ""
    value = helper.get_attribute_value(attribute.default_value)
    if isinstance(value, bytes):
        value = value.decode()
    return f"={value:g}" if isinstance(value, float) else "" if isinstance(value, list) else f"={value}"


def main():
    operators = {}
    for schema in sorted(defs.get_all_schemas_with_history(), key=lambda s: s.since_version):
        if schema.domain == "":
            inputs, attributes = operators.setdefault(schema.name, ([], {}))
            inputs.append(schema.max_input)
            attributes.update({n: f"{n}:{a.type.name}{default(a)}" for n, a in schema.attributes.items()})
    print(f"# Made by onnx_operators.py with onnx {onnx.__version__}.")
    for name, (inputs, attributes) in sorted(operators.items()):
        most = "any" if max(inputs) >= ANY else max(inputs)
        print(" ".join([name, str(most)] + [attributes[a] for a in sorted(attributes)]))


if __name__ == "__main__":
    main()
