# SPDX-License-Identifier: BSD-2-Clause
"""usage: onnx_suite.py [--record] [NAME...]
Runs the tests of ONNX itself (onnx.backend.test) through the importer, all or those whose names contain a NAME, and compares
with onnx_suite.txt: a test that passed has to pass. No test may have a wrong value. --record writes the table anew.

A test is a model with inputs and the expected outputs. It is run as it is, and with every input but one as a constant. Its
inputs are distributed over all ranks in their first dimension. Models of operator sets before 13 are converted by ONNX.
A number has rank 0 in ONNX and is a tensor [1] in Tenon. Skipped (77) where the package onnx is missing."""
import collections
import sys
import tempfile
import warnings
from pathlib import Path

from mpi4py import MPI

try:
    import numpy
    import onnx
    from onnx import numpy_helper, version_converter
    from onnx.backend.test.loader import load_model_tests
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)

import tenon

COMM = MPI.COMM_WORLD
TABLE = Path(__file__).with_name('onnx_suite.txt')
KINDS = ('node', 'simple', 'pytorch-converted', 'pytorch-operator')
READ = (13, 25)  # the operator sets that can be read
PASSES, WRONG = 'passes', 'WRONG'


class NotRun(Exception):
    """The test has no arrays of numbers."""


def array(value):
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    if not isinstance(value, (numpy.ndarray, numpy.generic)) or numpy.asarray(value).dtype.kind not in 'fiub':
        raise NotRun
    return numpy.asarray(value)


def stored(folder):
    """The inputs and outputs of a test that is a folder of files."""
    def tensors(kind):
        paths = sorted(folder.glob(f'test_data_set_0/{kind}_*.pb'), key=lambda path: int(path.stem.rpartition('_')[2]))
        return [onnx.TensorProto.FromString(path.read_bytes()) for path in paths]
    return onnx.load(folder / 'model.onnx'), tensors('input'), tensors('output')


def cases(words):
    """Yields the name, model, inputs and outputs of each test."""
    warnings.simplefilter('ignore')  # ONNX computes the expected values now
    for kind in KINDS:
        for case in load_model_tests(kind=kind):
            if words and not any(word in case.name for word in words):
                continue
            model, inputs, outputs = stored(Path(case.model_dir)) if case.model_dir else (case.model, *case.data_sets[0])
            try:
                yield case.name, model, [array(v) for v in inputs], [array(v) for v in outputs], case
            except (NotRun, TypeError, ValueError, IndexError):
                continue


def of_known_set(model):
    """The model in an operator set that can be read, where ONNX converts it."""
    for entry in model.opset_import:
        if entry.domain == '' and entry.version > READ[1]:
            entry.version = READ[1]
        if entry.domain == '' and entry.version < READ[0]:
            try:
                return version_converter.convert_version(model, 21)
            except Exception:  # of the converter, which has no classes of errors
                return model
    return model


def forms(model, inputs):
    """The model as it is, and with all inputs but one as constants: pairs of model and the inputs that are left."""
    names = [value.name for value in model.graph.input]
    present = [i for i in range(len(inputs)) if i < len(names)]
    yield model, present
    if len(present) < 2:
        return
    for field in present:
        changed = onnx.ModelProto()
        changed.CopyFrom(model)
        for i in present:
            if i != field:
                changed.graph.initializer.append(numpy_helper.from_array(inputs[i], names[i]))
        kept = changed.graph.input[field]
        del changed.graph.input[:]
        changed.graph.input.append(kept)
        yield changed, [field]


def layout_of(values):
    grid = tenon.Partition(COMM, [COMM.size])
    return tenon.Layout.sharded(grid, values.shape, 'S0')


def block(layout, values):
    low, high = layout.box()
    return numpy.ascontiguousarray(values[tuple(slice(l, h) for l, h in zip(low, high))])


def is_close(layout, computed, expected, case):
    expected = expected.reshape(expected.shape or (1,))
    if tuple(layout.shape()) != expected.shape:
        return False
    wanted = block(layout, expected).astype(float)
    if layout.properties() == 'P':
        wanted, computed = expected.astype(float), COMM.allreduce(computed)
    rounding = 0  # of the largest number, in the type in which ONNX has computed
    if expected.dtype.kind == 'f':
        rounding = 4 * float(numpy.finfo(expected.dtype).eps * abs(expected[numpy.isfinite(expected)]).max(initial=0))
    return bool(numpy.allclose(computed, wanted, rtol=case.rtol, atol=case.atol + rounding, equal_nan=True))


def result_of(model, inputs, outputs, case, path):
    """PASSES, WRONG, or why the model is refused."""
    if COMM.rank == 0:
        path.write_bytes(model.SerializeToString())
    COMM.barrier()
    wide = any(v.dtype.kind != 'f' or v.dtype == numpy.float64 for v in inputs)
    kind = 'float64' if wide else 'float32'
    if not inputs:
        return 'no input'
    inputs = [value.reshape(value.shape or (1,)) for value in inputs]
    try:
        layouts = [layout_of(value) for value in inputs]
        net = tenon.load(path, layouts, data_type=kind)
        x = [tenon.DTensor(layout, kind).place(block(layout, value.astype(kind))) for layout, value in zip(layouts, inputs)]
        y = [net.create_output(i) for i in range(net.output_count())]
        net.apply_many(x, y)
    except tenon.Error as error:
        return why(error)
    if len(y) != len(outputs):
        return f'{len(y)} of {len(outputs)} outputs'
    good = all(is_close(v.layout(), v.numpy(), w, case) for v, w in zip(y, outputs))
    return PASSES if COMM.allreduce(good, MPI.LAND) else WRONG


def why(error):
    """The first line of an error that is about the operator, without numbers and names that belong to the test alone."""
    lines = [line.strip() for line in error.message.split('\n')]
    listed = [line for line in lines[1:] if ': ' in line and not line.startswith(('what works', 'input', '('))]
    is_list = listed and 'cannot be imported' in lines[0]
    text = listed[0].partition(': ')[2] if is_list else lines[0].partition(': ')[2] or lines[0]
    return f'{error.code.name.lower()}: {text.partition(", with input")[0][:90]}'


def run(words):
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(COMM.bcast(folder)) / 'model.onnx'
        for name, model, inputs, outputs, case in cases(words):
            found = [result_of(of_known_set(part), [inputs[i] for i in left], outputs, case, path)
                     for part, left in forms(model, inputs)]
            results[name] = WRONG if WRONG in found else PASSES if PASSES in found else found[-1]
            if words and COMM.rank == 0:
                print(name, *found, sep='\n  ')
    return results


def main(arguments):
    words = [word for word in arguments if not word.startswith('--')]
    with tenon.Session():
        results = run(words)
    counted = collections.Counter(results.values())
    kept = dict(line.split('\t') for line in TABLE.read_text().splitlines() if line[:1] not in '#') if TABLE.exists() else {}
    lost = [f'{name}: {result}' for name, result in results.items()
            if result == WRONG or (kept.get(name) == PASSES and result != PASSES)]
    if COMM.rank == 0:
        print(f'ONNX {onnx.__version__}: {len(results)} tests, {counted[PASSES]} pass, {counted[WRONG]} have wrong values')
        print(*lost, sep='\n')
        for text, count in counted.most_common():
            print(f'{count:5} {text}')
        if '--record' in arguments:
            said = [f'{name}\t{result}' for name, result in sorted(results.items())]
            TABLE.write_text(f'# What onnx_suite.py finds of the tests of ONNX {onnx.__version__}\n' + '\n'.join(said) + '\n')
    return bool(lost)


sys.exit(main(sys.argv[1:]))
