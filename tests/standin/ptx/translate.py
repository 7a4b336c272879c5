#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: translate.py FOLDER FILE.ptx ...

Translates PTX, the assembly language that nvcc makes of CUDA kernels, to C++ for the host. By the result, the stand-in
for the CUDA runtime runs the code of the device in tests without a GPU. Writes FILE.cpp in FOLDER for each FILE.ptx,
unless the file has this content already.

A kernel becomes a struct that derives from Thread of machine.hpp. Its members are the registers of one thread, and
its run() executes the thread from one barrier to the next:

    .visible .entry k(.param .b64 k_param_0)       // k
    {                                              struct Kernel0 : Thread {
      .reg .b32 %r<3>;                               u32 r1_ = 0; u32 r2_ = 0;
      add.s32 %r1, %r2, 1;                           void run() { switch (thread.barrier) { case 0:;
      bar.sync 0;                                      { r1_ = u32(s32(s32(r2_) + s32(0x1))); }
      ret;                                             { thread.barrier = 1; return; case 1:; }
    }                                                  { thread.hasEnded = true; return; } } } };

machine.hpp runs the threads of a block one after the other to the barrier, and then on. A function of PTX becomes a
function of C++. A register holds bits, and each instruction reads and writes them as a value of the instruction's
type. An address is one of the host, except in shared memory, where it is an offset in the memory of the block.

An instruction that is unknown ends the script with a message that names the line, the kernel and the instruction;
nothing is omitted. To add an instruction that computes, add a row to instructions.py; for another one, a method to
Body."""
import re
import sys
from collections import namedtuple
from pathlib import Path

from instructions import BITS, TYPES, find

SPECIAL = {'%tid.x': 'thread.thread', '%ntid.x': 'thread.threads', '%ctaid.x': 'thread.block',
           '%nctaid.x': 'thread.blocks'}
# The method of Thread (machine.hpp) that returns the address of an access in a state space: of a load, of a store.
REACHED = {'global': ('reads', 'writes'), 'shared': ('shares', 'shares'), 'local': ('aligned', 'aligned'),
           'param': ('aligned', 'aligned')}

HEADING = re.compile(r'\.(version|target|address_size)\b[^\n]*')
VARIABLE = re.compile(r'(?:\.(?:visible|weak)\s+)?\.(?:global|const)\s+\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[(\d+)\]'
                      r'\s*(?:=\s*\{([^}]*)\})?\s*;')
FUNCTION = re.compile(r'(?:\.(?:visible|weak)\s+)?\.(entry|func)\s*(?:\(([^)]*)\)\s*)?([\w$]+)\s*\(([^)]*)\)'
                      r'\s*((?:\.\w+[\s\d,]*)*)([{;])')
PARAMETER = re.compile(r'\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+([\w$]+)(?:\[(\d+)\])?')
REGISTERS = re.compile(r'\.reg\s+\.(\w+)\s+(.*)')
ARRAY = re.compile(r'\.(local|shared)\s+\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[(\d+)\]')
GUARD = re.compile(r'@(!?)(%[\w$]+)\s+(.*)')
CALL = re.compile(r'(?:\(\s*([\w$]+)\s*\)\s*,\s*)?([\w$]+)\s*(?:,\s*\(([^)]*)\))?')
ENDS_BLOCK = ('bra', 'ret', 'bar')

# `kind` is label, open or close (of braces), or plain.
Statement = namedtuple('Statement', 'line kind text')


class Unknown(Exception):
    """Text of PTX that the translator does not know."""


def plain(name):
    """Returns a name of PTX as a name of C++."""
    return name.replace('$', '_')


def register(name):
    return name[1:].replace('$', '_') + '_'


def converted(value, kind, to):
    """Returns an expression of type `kind` as one of type `to`: the same number for integers, otherwise the same
    bits."""
    if kind == to:
        return value
    return f'{to}({value})' if kind[0] in 'us' and to[0] in 'us' else f'as<{to}>({value})'


def split(text):
    """Returns the operands of an instruction; a list in braces is one operand."""
    return [part.strip() for part in re.findall(r'(?:\{[^}]*\}|[^,{}])+', text) if part.strip()]


def without_comments(text):
    return re.sub(r'//[^\n]*', '', text)


def end_of_body(text, start):
    """Returns the offset of the brace that closes the one before `start`."""
    depth = 1
    for brace in re.finditer(r'[{}]', text[start:]):
        depth += 1 if brace[0] == '{' else -1
        if depth == 0:
            return start + brace.start()
    raise Unknown('a body does not end')


def statements(text, line):
    at = 0
    while at < len(text):
        if text[at].isspace():
            line += text[at] == '\n'
            at += 1
            continue
        label = re.compile(r'(\$?[\w$]+)\s*:').match(text, at)
        if text[at] in '{}':
            yield Statement(line, 'open' if text[at] == '{' else 'close', '')
            end = at + 1
        elif label:
            yield Statement(line, 'label', label[1])
            end = label.end()
        else:
            end = text.find(';', at) + 1
            if end == 0:
                raise Unknown(f'line {line}: a statement does not end')
            yield Statement(line, 'plain', ' '.join(text[at:end - 1].split()))
        line += text.count('\n', at, end)
        at = end


class Body:
    """The body of a kernel or a function, statement by statement."""

    def __init__(self, symbols, is_kernel):
        self.symbols = dict(symbols)     # by name: a C++ expression of the address, or of the offset in shared memory
        self.is_kernel = is_kernel
        self.scopes = [{}]               # for each open brace, the type of each register
        self.used = {}                   # the registers of the outermost scope that are used
        self.arrays = []                 # declarations of arrays in local memory
        self.lines = []                  # the translation
        self.shared = 0                  # bytes of shared memory
        self.barriers = 0                # number of barriers
        self.line = 0                    # the line of PTX that is translated, for messages

    def translate(self, body):
        for i, statement in enumerate(body):
            self.line = statement.line
            if self.begins_block(body, i):
                self.count(body[i:])
            if statement.kind == 'plain':
                self.plain(statement.text)
            elif statement.kind == 'label':
                self.lines.append(f'{plain(statement.text)}:;')
                self.count(body[i + 1:])
            else:
                self.brace(statement.kind)

    # A block is a sequence of statements that are all executed if the first one is: at its begin the translation adds
    # their number to the counts.
    def begins_block(self, body, i):
        return body[i].kind != 'label' and (i == 0 or self.ends_block(body[i - 1]))

    @staticmethod
    def ends_block(statement):
        guarded = GUARD.match(statement.text)
        return (guarded[3] if guarded else statement.text).split('.')[0].split(' ')[0] in ENDS_BLOCK

    def count(self, rest):
        """Adds a statement that counts the instructions of the block that begins here."""
        count = 0
        for statement in rest:
            if statement.kind == 'label':
                break
            count += statement.kind == 'plain' and not statement.text.startswith('.')
            if self.ends_block(statement):
                break
        if count:
            self.lines.append(f'thread.counts.instructions += {count};')

    def brace(self, kind):
        if kind == 'open':
            self.scopes.append({})
            self.lines.append('{')
        else:
            self.scopes.pop()
            self.lines.append('}')

    def plain(self, text):
        if text.startswith('.'):
            self.declare(text)
            return
        guard = GUARD.match(text)
        before = f'if ({guard[1]}{self.read(guard[2], "bool")}) ' if guard else ''
        name, _, operands = (guard[3] if guard else text).partition(' ')
        self.lines.append(f'{before}{{ {self.instruction(name, operands)} }}')

    def declare(self, text):
        registers, array, parameter = (kind.fullmatch(text) for kind in (REGISTERS, ARRAY, PARAMETER))
        if registers:
            self.declare_registers(registers[1], split(registers[2]))
        elif array and array[1] == 'local':
            self.arrays.append(f'alignas({array[2]}) char {plain(array[3])}[{array[4]}];')
            self.symbols[array[3]] = f'u64({plain(array[3])})'
        elif array:
            alignment = int(array[2])
            offset = (self.shared + alignment - 1) // alignment * alignment
            self.symbols[array[3]] = str(offset)
            self.shared = offset + int(array[4])
        elif parameter:
            size = parameter[3] or BITS[parameter[1]] // 8
            self.lines.append(f'alignas(16) char {plain(parameter[2])}[{size}];')
            self.symbols[parameter[2]] = f'u64({plain(parameter[2])})'
        elif not text.startswith('.pragma '):
            raise Unknown(f"the directive '{text}'")

    def declare_registers(self, kind, names):
        if kind not in BITS:
            raise Unknown(f'a register of type {kind}')
        all_names = []
        for name in names:
            counted = re.fullmatch(r'(%\w+)<(\d+)>', name)
            all_names += [f'{counted[1]}{i}' for i in range(int(counted[2]))] if counted else [name]
        holds = TYPES[kind].replace('s', 'u')
        self.scopes[-1].update((name, holds) for name in all_names)
        if len(self.scopes) > 1:
            self.lines += [f'{holds} {register(name)} = 0;' for name in all_names]

    def declarations(self):
        return self.arrays + [f'{holds} {register(name)} = 0;' for name, holds in self.used.items()]

    def instruction(self, name, operands):
        words = name.split('.')
        listed = split(operands)
        if words[0] in ('ld', 'st'):
            return self.memory(name, words, listed)
        if words[0] == 'bra' and words[1:] in ([], ['uni']):
            return f'goto {plain(listed[0])};'
        if name == 'ret':
            return 'thread.hasEnded = true; return;' if self.is_kernel else 'return;'
        if name == 'bar.sync' and listed == ['0']:
            return self.barrier()
        if words[0] == 'call' and words[1:] in ([], ['uni']):
            return self.call(operands)
        if words[0] == 'mov' and any(operand.startswith('{') for operand in listed):
            return self.move_halves(words[-1], *listed)
        found = find(name)
        if not found or len(listed) != len(found[0].operands) + 1:
            raise Unknown(f"the instruction '{name} {operands}'")
        return self.compute(*found, listed)

    def compute(self, form, types, listed):
        def typed(text):
            return re.sub(r'\b[TWDS]\b', lambda found: types[found[0]], text)
        values = {letter: self.read(operand, typed(kind))
                  for letter, kind, operand in zip('abcd', form.operands, listed[1:])}
        expression = re.sub(r'\b[abcd]\b', lambda found: values[found[0]], typed(form.expression))
        return self.write(listed[0], typed(form.result), expression)

    def read(self, operand, kind):
        """Returns an expression for the operand, as a value of the C++ type `kind`."""
        if operand in SPECIAL:
            return f'{kind}({SPECIAL[operand]})'
        if operand.startswith('%'):
            return converted(register(operand), self.use(operand), kind)
        number = re.fullmatch(r'0[fF]([0-9A-Fa-f]{8})|0[dD]([0-9A-Fa-f]{16})', operand)
        if number:
            holds = 'u32' if number[1] else 'u64'
            return converted(f'{holds}(0x{number[1] or number[2]})', holds, kind)
        if re.fullmatch(r'-?(\d+|0x[0-9A-Fa-f]+)U?', operand) and kind[0] in 'usb':
            return f'{kind}({hex(int(operand.rstrip("U"), 0) % 2**64)})'
        if operand in self.symbols:
            return f'{kind}({self.symbols[operand]})'
        raise Unknown(f"the operand '{operand}'")

    def write(self, name, kind, value):
        """Returns the statement that assigns a value of the C++ type `kind` to a register."""
        return f'{register(name)} = {converted(f"{kind}({value})", kind, self.use(name))};'

    def use(self, name):
        """Returns the type of a register, and notes that it is used."""
        holder = next((scope for scope in reversed(self.scopes) if name in scope), None)
        if holder is None:
            raise Unknown(f"the register '{name}'")
        if holder is self.scopes[0]:
            self.used[name] = holder[name]
        return holder[name]

    def memory(self, name, words, listed):
        """Translates a load ld.SPACE{.nc}{.vN}.TYPE register, [address] or a store st.SPACE{.vN}.TYPE [address],
        register; with .vN, N registers in braces."""
        is_store = words[0] == 'st'
        form = re.fullmatch(r'(?:ld|st)\.(\w+?)(?:\.nc)?(?:\.v([24]))?\.(\w+)', name)
        place = re.fullmatch(r'\[\s*(%?[\w$]+)\s*(?:\+\s*(-?\d+))?\s*\]', listed[1 - is_store])
        if not form or form[1] not in REACHED or form[3] not in TYPES or not place:
            raise Unknown(f"the instruction '{name} {', '.join(listed)}'")
        kind, count = TYPES[form[3]], int(form[2] or 1)
        size = BITS[form[3]] // 8
        address = f'{self.read(place[1], "u64")} + u64({place[2] or 0})'
        how = REACHED[form[1]][is_store]
        made = f'const u64 at = thread.{how}({address}, {count * size}, {self.line}); '
        values = [value.strip() for value in listed[is_store].strip('{}').split(',')]
        if is_store:
            return made + ' '.join(f'store<{kind}>(at + {i * size}, {self.read(value, kind)});'
                                   for i, value in enumerate(values))
        return made + ' '.join(self.write(value, kind, f'load<{kind}>(at + {i * size})')
                               for i, value in enumerate(values))

    def move_halves(self, kind, to, source):
        """Translates a mov between one register and a list of its parts, the lowest first."""
        whole = TYPES[kind]
        parts = (to if to.startswith('{') else source).strip('{} ').split(',')
        bits = BITS[kind] // len(parts)
        if to.startswith('{'):
            return f'const {whole} a = {self.read(source, whole)}; ' + ' '.join(
                self.write(part.strip(), f'u{bits}', f'a >> {i * bits}') for i, part in enumerate(parts))
        return self.write(to, whole, ' | '.join(f'{whole}({self.read(part.strip(), f"u{bits}")}) << {i * bits}'
                                                for i, part in enumerate(parts)))

    def barrier(self):
        """run() returns at a barrier; the next call continues at its case label."""
        if not self.is_kernel:
            raise Unknown('a barrier within a function')
        self.barriers += 1
        return f'thread.barrier = {self.barriers}; return; case {self.barriers}:;'

    def call(self, operands):
        found = CALL.fullmatch(operands)
        if not found or found[2] not in self.symbols:
            raise Unknown(f"the call '{operands}'")
        arguments = ['thread', found[1], *(found[3] or '').split(',')]
        return f'{plain(found[2])}({", ".join(plain(name.strip()) for name in arguments if name and name.strip())});'


class Module:
    """A file of PTX."""

    def __init__(self, path):
        self.path = path
        self.text = without_comments(path.read_text())
        self.symbols = {}
        self.lines = []
        self.kernels = []                # name and struct of each

    def translate(self):
        at = 0
        try:
            while at < len(self.text):
                found = re.compile(r'\s+').match(self.text, at) or HEADING.match(self.text, at)
                at = found.end() if found else self.item(at)
        except Unknown as unknown:
            raise SystemExit(f'{self.path}: {unknown} is not known; see translate.py') from unknown
        return self.program()

    def item(self, at):
        variable, function = VARIABLE.match(self.text, at), FUNCTION.match(self.text, at)
        if variable:
            name = plain(variable[2])
            self.symbols[variable[2]] = f'u64({name})'
            values = variable[4] or ''
            self.lines.append(f'alignas({variable[1]}) u8 {name}[{variable[3]}] = {{{values}}};')
            return variable.end()
        if not function:
            line = self.text.count('\n', 0, at) + 1
            raise Unknown(f"line {line}: '{self.text[at:].splitlines()[0]}'")
        kind, results, name, parameters, _, opening = function.groups()
        parameters = [found[2] for found in PARAMETER.finditer(parameters)]
        results = [found[2] for found in PARAMETER.finditer(results or '')]
        if kind == 'func':
            self.symbols[name] = name
        if opening == ';':
            self.lines.append(f'{self.head(name, results + parameters)};')
            return function.end()
        end = end_of_body(self.text, function.end())
        try:
            body = Body(self.symbols, kind == 'entry')
            self.body(body, name, results + parameters, self.statements_of(function.end(), end))
        except Unknown as unknown:
            raise Unknown(f'line {body.line}: in {name} {unknown}') from unknown
        return end + 1

    def statements_of(self, start, end):
        return list(statements(self.text[start:end], self.text.count('\n', 0, start) + 1))

    @staticmethod
    def head(name, parameters):
        return f'void {plain(name)}(Thread& thread{"".join(f", char* {plain(p)}" for p in parameters)})'

    def body(self, body, name, parameters, listed):
        if body.is_kernel and len(parameters) > 1:
            raise Unknown('more than one parameter')
        for parameter in parameters:
            body.symbols[parameter] = 'thread.parameter' if body.is_kernel else f'u64({plain(parameter)})'
        body.translate(listed)
        if not body.is_kernel:
            self.lines += ['', f'{self.head(name, parameters)} {{', *body.declarations(), 'u32 carry = 0;', *body.lines,
                           '}']
            return
        struct = f'Kernel{len(self.kernels)}'
        self.kernels.append((name, struct))
        self.lines += ['', f'// {name}', f'struct {struct} : Thread {{',
                       f'static constexpr u32 kShared = {body.shared};',
                       f'static constexpr bool kHasBarriers = {"true" if body.barriers else "false"};',
                       *body.declarations(), 'void run() {', 'Thread& thread = *this;', 'u32 carry = 0;',
                       'switch (thread.barrier) {', 'case 0:;', *body.lines, '}', '}', '};']

    def program(self):
        table = [f'{{"{name}", "{self.path.name}", &runBlocks<{struct}>}},' for name, struct in self.kernels]
        return '\n'.join([f'// Made by translate.py from {self.path.name}.', '#include "standin/ptx/machine.hpp"', '',
                          'namespace tenon::standin::ptx {', 'namespace {', *self.lines, '',
                          'const Translated translated[] = {', *table, '};',
                          'const Registered registered(translated, std::size(translated));', '',
                          '} // namespace', '} // namespace tenon::standin::ptx', ''])


def main(folder, *files):
    for path in map(Path, files):
        made, to = Module(path).translate(), Path(folder) / f'{path.stem}.cpp'
        if not to.exists() or to.read_text() != made:
            to.write_text(made)


if __name__ == '__main__':
    if len(sys.argv) < 3:
        raise SystemExit(__doc__.splitlines()[0])
    main(*sys.argv[1:])
