#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes pt2_views.txt: the operators of PyTorch (aten) whose results can be views of their first argument, by their schemas.

    python3 pt2_views.py > pt2_views.txt       (needs the package torch)
"""
import torch

print(f"# Made by pt2_views.py with torch {torch.__version__.split('+')[0]}.")
names = {schema.name.removeprefix("aten::") for schema in torch._C._jit_get_all_schemas()
         if schema.name.startswith("aten::") and not schema.is_mutable and schema.arguments
         and schema.arguments[0].alias_info and str(schema.arguments[0].type) == "Tensor"}
print("\n".join(sorted(names)))
