# SPDX-License-Identifier: BSD-2-Clause
"""The table by which translate.py translates instructions of PTX that compute to C++ expressions.

A row has the name of the instruction without its type, the types of its operands, the type of its result, and an
expression of the operands a, b, c and d. For example, the row

    mul.wide        T,T      W     W(a) * W(b)

translates "mul.wide.u32 %rd1, %r1, %r2": T is the instruction's type, the last word of its name (u32), and W is the
type of twice the width (u64). In a name that ends with two types (cvt.rn.f32.f64), D is the type of the result and S
that of the operand. `bool` is a predicate. An expression that contains `carry` reads or writes the carry flag. A row
whose name includes the type (not.pred) has precedence over the row without.

The translation is compiled for wrapping signed integers (-fwrapv) and without contraction of products and sums.
Functions in expressions are defined in machine.hpp."""
from collections import namedtuple

Form = namedtuple('Form', 'operands result expression')

# Bits of each type of PTX, and its type in C++ (machine.hpp).
BITS = {'pred': 1}
BITS.update({kind + bits: int(bits) for kind in 'bus' for bits in ('8', '16', '32', '64')})
BITS.update({'f32': 32, 'f64': 64})
TYPES = {'pred': 'bool'}
TYPES.update({name: name.replace('b', 'u') for name in BITS if name != 'pred'})

ROWS = '''
mov             T        T     a
cvta.to.global  T        T     a
selp            T,T,bool T     c ? a : b

add             T,T      T     a + b
add.rn          T,T      T     a + b
sub             T,T      T     a - b
mul             T,T      T     a * b
mul.rn          T,T      T     a * b
mul.lo          T,T      T     a * b
mul.hi          T,T      T     highHalf(a, b)
mul.wide        T,T      W     W(a) * W(b)
mad.lo          T,T,T    T     a * b + c
mad.wide        T,T,W    W     W(a) * W(b) + c
fma.rn          T,T,T    T     std::fma(a, b, c)
div             T,T      T     quotient(a, b)
div.rn          T,T      T     a / b
rem             T,T      T     a - b * quotient(a, b)
neg             T        T     -a
abs             T        T     std::abs(a)
min             T,T      T     lesser(a, b)
max             T,T      T     greater(a, b)
sqrt.rn         T        T     std::sqrt(a)
rcp.rn          T        T     1 / a
rcp.approx.ftz  T        T     roughReciprocal(a)

add.cc          T,T      T     sum(a, b, 0, carry)
addc            T,T      T     a + b + carry
addc.cc         T,T      T     sum(a, b, carry, carry)
sub.cc          T,T      T     difference(a, b, 0, carry)
subc            T,T      T     a - b - carry
subc.cc         T,T      T     difference(a, b, carry, carry)
mad.lo.cc       T,T,T    T     sum(T(a * b), c, 0, carry)
madc.lo         T,T,T    T     a * b + c + carry
madc.lo.cc      T,T,T    T     sum(T(a * b), c, carry, carry)
mad.hi.cc       T,T,T    T     sum(highHalf(a, b), c, 0, carry)
madc.hi         T,T,T    T     highHalf(a, b) + c + carry
madc.hi.cc      T,T,T    T     sum(highHalf(a, b), c, carry, carry)

and             T,T      T     a & b
or              T,T      T     a | b
xor             T,T      T     a ^ b
not.pred        T        T     !a
not             T        T     ~a
shl             T,u32    T     b < bitsOf<T> ? a << b : 0
shr             T,u32    T     shiftedRight(a, b)
bfi             T,T,u32,u32 T  inserted(a, b, c, d)
clz             T        u32   leadingZeros(a)

setp.eq         T,T      bool  a == b
setp.ne         T,T      bool  isOrdered(a, b) && a != b
setp.lt         T,T      bool  a < b
setp.le         T,T      bool  a <= b
setp.gt         T,T      bool  a > b
setp.ge         T,T      bool  a >= b
setp.equ        T,T      bool  !isOrdered(a, b) || a == b
setp.neu        T,T      bool  a != b
setp.ltu        T,T      bool  !(a >= b)
setp.leu        T,T      bool  !(a > b)
setp.gtu        T,T      bool  !(a <= b)
setp.geu        T,T      bool  !(a < b)
setp.num        T,T      bool  isOrdered(a, b)
setp.nan        T,T      bool  !isOrdered(a, b)

cvt             S        D     D(a)
cvt.rn          S        D     D(a)
cvt.rni         S        D     converted<D>(std::nearbyint(a))
cvt.rzi         S        D     converted<D>(std::trunc(a))
cvt.rmi         S        D     converted<D>(std::floor(a))
cvt.rn.bf16.f32 f32      u16   nearestBFloat16(a)
'''


def read(rows):
    """Returns the table: a Form by name."""
    forms = {}
    for row in filter(None, rows.split('\n')):
        name, operands, result, expression = row.split(None, 3)
        forms[name] = Form(operands.split(','), result, expression)
    return forms


FORMS = read(ROWS)


def find(name):
    """Returns the row of an instruction, and its types T, W, D and S; None if it has no row."""
    words = name.split('.')
    if words[-1] not in TYPES:
        return None
    last = words[-1]
    types = {'T': TYPES[last]}
    if BITS[last] in (8, 16, 32) and last[0] != 'f':
        types['W'] = TYPES[last][0] + str(2 * BITS[last])
    if words[0] == 'cvt' and words[-2] in TYPES:
        types = {'D': TYPES[words[-2]], 'S': types['T']}
        words.pop()
    form = FORMS.get(name) or FORMS.get('.'.join(words[:-1]))
    used = set(form.operands + [form.result]) if form else set()
    return (form, types) if form and used & {'T', 'W', 'D', 'S'} <= set(types) else None
