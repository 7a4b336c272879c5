# SPDX-License-Identifier: BSD-2-Clause
"""The package has types: mypy reports no errors in it, in a user's program (typed_program.py) exactly the wrong lines, and in the
tutorials none by its strict rules."""
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

    def test_tutorials_are_strict(self):
        """As users are who install the package, whose own functions are not checked then."""
        tutorials = HERE.parents[1] / 'tutorials/python'
        os.environ['MYPYPATH'] = f'{tutorials}{os.pathsep}{Path(tenon.__file__).parents[1]}'
        modules = [path.stem for path in sorted(tutorials.glob('*.py'))
                   if 'torch' not in path.stem or importlib.util.find_spec('torch') is not None]
        said, failure, status = api.run(['--strict', '--follow-imports=silent', '--cache-dir', os.devnull,
                                         *[f'-m{module}' for module in modules]])
        self.assertEqual(status, 0, said + failure)


if __name__ == '__main__':
    unittest.main()
