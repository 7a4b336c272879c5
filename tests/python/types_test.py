# SPDX-License-Identifier: BSD-2-Clause
"""The package has types: mypy reports no errors in it, and in a user's program (typed_program.py) exactly the wrong lines."""
import importlib.util
import os
import re
import unittest
from pathlib import Path

try:
    from mypy import api
except ImportError:
    raise unittest.SkipTest('mypy is not installed')
import tenon

HERE = Path(__file__).parent


class Types(unittest.TestCase):
    def test_mypy(self):
        os.environ['MYPYPATH'] = f'{HERE}{os.pathsep}{Path(tenon.__file__).parents[1]}'
        programs = ['typed_program'] + ['typed_torch_program'] * (importlib.util.find_spec('torch') is not None)
        modules = programs + ['tenon'] + ['tenon.torch.nn'] * (len(programs) - 1)
        said, failure, _ = api.run(['--cache-dir', os.devnull, '--no-error-summary', *[f'-m{module}' for module in modules]])
        found = {(Path(path).name, int(line), kind) for path, line, kind in re.findall(r'^(.*):(\d+): error: .*\[([a-z-]+)\]$', said, re.M)}
        wanted = {(f'{name}.py', number, line.rpartition('# error: ')[2]) for name in programs
                  for number, line in enumerate((HERE / f'{name}.py').read_text().split('\n'), 1) if '# error: ' in line}
        self.assertEqual(found, wanted, said + failure)


if __name__ == '__main__':
    unittest.main()
