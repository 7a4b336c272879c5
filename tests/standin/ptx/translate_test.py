#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests translate.py: the C++ text of single instructions of PTX, and its messages for unknown ones. The values that the
C++ computes are tested in machine_test.cpp."""
import tempfile
import unittest
from pathlib import Path

from translate import Module

KERNEL = '''.version 9.0
.target sm_90
.visible .entry kernel(.param .align 8 .b8 given[16])
{{
	.shared .align 8 .b8 together[64];
	.reg .pred %p<4>;
	.reg .b32 %r<4>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<4>;
	.reg .f64 %fd<4>;
	{statement}
}}
'''
TRANSLATIONS = {
    'add.s64 %rd1, %rd2, 304': 'rd1_ = u64(s64(s64(rd2_) + s64(0x130)));',
    'sub.s32 %r1, 0, %r2': 'r1_ = u32(s32(s32(0x0) - s32(r2_)));',
    'mul.wide.u32 %rd1, %r1, %r2': 'rd1_ = u64(u64(r1_) * u64(r2_));',
    'fma.rn.f64 %fd1, %fd2, 0d3FF0000000000000, %fd3':
        'fd1_ = f64(std::fma(fd2_, as<f64>(u64(0x3FF0000000000000)), fd3_));',
    'mov.b32 %r1, %f1': 'r1_ = u32(as<u32>(f1_));',
    'mov.b64 %rd1, {%r1, %r2}': 'rd1_ = u64(u64(r1_) << 0 | u64(r2_) << 32);',
    'mov.u32 %r1, %ntid.x': 'r1_ = u32(u32(thread.threads));',
    'cvt.rn.f32.f64 %f1, %fd1': 'f1_ = f32(f32(fd1_));',
    'shl.b32 %r1, %r2, %r3': 'r1_ = u32(r3_ < bitsOf<u32> ? r2_ << r3_ : 0);',
    'setp.ltu.f32 %p1, %f1, %f2': 'p1_ = bool(!(f1_ >= f2_));',
    'selp.f64 %fd1, %fd2, %fd3, %p1': 'fd1_ = f64(p1_ ? fd2_ : fd3_);',
    'ld.param.u32 %r1, [given+8]':
        'const u64 at = thread.aligned(u64(thread.parameter) + u64(8), 4, 11); r1_ = u32(load<u32>(at + 0));',
    'st.global.v2.f32 [%rd1+-8], {%f1, %f2}':
        'const u64 at = thread.writes(rd1_ + u64(-8), 8, 11); store<f32>(at + 0, f1_); store<f32>(at + 4, f2_);',
    'st.shared.f64 [together], %fd1': 'const u64 at = thread.shares(u64(0) + u64(0), 8, 11); store<f64>(at + 0, fd1_);',
    'bar.sync 0': 'thread.barrier = 1; return; case 1:;',
}
UNKNOWN = {
    'atom.global.add.u32 %r1, [%rd1], 1': "the instruction 'atom.global.add.u32 %r1, [%rd1], 1'",
    'add.f16x2 %r1, %r2, %r3': "the instruction 'add.f16x2 %r1, %r2, %r3'",
    'ld.global.v2.weird %r1, [%rd1]': "the instruction 'ld.global.v2.weird %r1, [%rd1]'",
    'bar.sync 1': "the instruction 'bar.sync 1'",
    'mov.u32 %r1, %laneid': "the register '%laneid'",
    'mov.u32 %r1, nowhere': "the operand 'nowhere'",
    'call.uni nothing': "the call 'nothing'",
    '.branchtargets L1': "the directive '.branchtargets L1'",
}


def translated(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'kernel.ptx'
        path.write_text(text)
        return Module(path).translate()


class Translates(unittest.TestCase):
    def test_instructions(self):
        for ptx, cpp in TRANSLATIONS.items():
            with self.subTest(ptx):
                self.assertIn(f'\n{{ {cpp} }}\n', translated(KERNEL.format(statement=ptx + ';')))

    def test_a_guard(self):
        text = translated(KERNEL.format(statement='@!%p1 bra $L__BB0_1;\n$L__BB0_1:\nret;'))
        self.assertIn('if (!p1_) { goto _L__BB0_1; }', text)

    def test_what_is_unknown(self):
        for ptx, what in UNKNOWN.items():
            with self.subTest(ptx), self.assertRaises(SystemExit) as ended:
                translated(KERNEL.format(statement=ptx + ';'))
            self.assertIn(f'line 11: in kernel {what} is not known', str(ended.exception))

    def test_an_unknown_item(self):
        with self.assertRaises(SystemExit) as ended:
            translated('.version 9.0\n.extern .shared .align 8 .b8 all[];\n')
        self.assertIn("line 2: '.extern .shared .align 8 .b8 all[];' is not known", str(ended.exception))

    def test_all_kernels(self):
        text = Module(Path(__file__).with_name('machine.ptx')).translate()
        self.assertEqual(text.count(', "machine.ptx", &runBlocks<Kernel'), 9)


if __name__ == '__main__':
    unittest.main()
