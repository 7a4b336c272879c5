# SPDX-License-Identifier: BSD-2-Clause
"""Objects: each holds one reference to a C object, which is released with the Python object."""
from __future__ import annotations

import ctypes
import enum
import weakref
from typing import TYPE_CHECKING, Any, Callable

from .runtime import (address, callback, check, check_held, communicator, data_type, encode, function, hold, int as c_int,
                      names, pointer, ref, release, text, to_communicator)

retain = function('TenonObjectRetain', c_int, address)
create_type = function('TenonLayerCreateType', c_int, communicator, text, address)
set_functions = function('TenonLayerShellSetFunctions', c_int, address, address)
set_context = function('TenonLayerShellSetContext', c_int, address, address, address)


if TYPE_CHECKING:
    from mpi4py import MPI
    from typing_extensions import Self
    from .calls import _Members as Base  # see _complete()
else:
    Base = object


class Object(Base):
    """The base class of all classes. An object holds one reference, which is released when the
    object is destroyed, by destroy(), or at the end of a block: `with tenon.Layer(comm, "conv")
    as layer:`."""
    __slots__ = ('_handle', '__weakref__')
    _live: weakref.WeakSet[Object] = weakref.WeakSet()  # objects that the end of a session destroys
    _is_open = True  # until the interpreter ends

    if TYPE_CHECKING:
        _destroy: Callable[[Any], int]

    def __new__(cls, *arguments: Any, **settings: Any) -> Self:
        made = super().__new__(cls)
        made._handle = None
        Object._live.add(made)
        return made

    @classmethod
    def _own(cls, handle):
        """Takes over a reference; None for NULL."""
        if not handle:
            return None
        made = cls.__new__(cls)
        made._handle = handle
        return made

    @classmethod
    def _share(cls, handle):
        """Creates another reference to an object."""
        if handle:
            check(retain(handle))
        return cls._own(handle)

    def _give(self):
        """Returns the reference, which C takes over."""
        handle, self._handle = self._handle, None
        return handle

    def share(self) -> Self:
        """A second reference to the same object."""
        return type(self)._share(self._handle)

    def destroy(self) -> None:
        """Releases the reference. Not collective."""
        handle, self._handle = self._handle, None
        if handle:
            self._let_go(handle)
            type(self)._destroy(ref(pointer(handle)))

    def _let_go(self, handle):
        """Called before the reference is released."""

    def __del__(self):
        if Object._is_open:
            self.destroy()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.destroy()

    def is_same(self, other: Object) -> bool:
        """Whether both are references to the same C object."""
        return self._handle == other._handle

    def __repr__(self) -> str:
        if not self._handle:
            return f'<tenon.{type(self).__name__}, destroyed>'
        words = [word for word in (self.type(), self.name(), *self._details()) if word]
        return f'<tenon.{" ".join([type(self).__name__, *words])}>'

    def _details(self) -> list[str]:
        """Further words of repr()."""
        return []

    def __copy__(self) -> Self:
        return self.share()

    def __reduce__(self) -> Any:  # a copy of the handle would be an uncounted reference
        raise TypeError(f'a tenon.{type(self).__name__} cannot be copied or pickled: make another one, or a second reference by share(); '
                        'save and copy the values of parameters and tensors')

    def set(self, *pair: Any, **settings: Any) -> Self:
        """Sets settings by name: set(kernel=[3, 3], in_channels=1, data_type="float64"), or
        set("kernel", [3, 3]). The type of the value determines that of the setting. Local; call
        on all ranks."""
        for name, value in [pair] * bool(pair) + [*settings.items()]:
            if name == 'data_type':
                value = data_type(value)
            if isinstance(value, enum.Enum):
                self.set_text(name, value.name.lower())
            elif isinstance(value, bool):
                self.set_bool(name, value)
            elif isinstance(value, float):
                self.set_real(name, value)
            elif hasattr(value, '__index__'):
                self.set_integers(name, [value])
            elif isinstance(value, (list, tuple)) or hasattr(value, '__array__'):
                self.set_integers(name, value)
            else:
                self.set_text(name, value)
        return self

    @staticmethod
    def _complete(defined):
        """Adds the destroy calls and the common members to the classes of calls.py."""
        names.update(defined)
        for name, value in vars(defined['_Members']).items():
            if not name.startswith('__'):
                setattr(Object, name, value)
        for value in defined.values():
            if isinstance(value, type) and issubclass(value, Object) and '_class' in vars(value):
                value._destroy = function(value._class + 'Destroy', c_int, address)


class Laid(Object):
    """Layouts, whose repr() shows properties, shape and the halo of this rank."""
    __slots__ = ()

    def _details(self: Any) -> list[str]:
        (low, high), (owned_low, owned_high) = self.box(), self.owned_box()
        widths = [(o - l, h - p) for l, h, o, p in zip(low, high, owned_low, owned_high)]
        halo = ['with', 'halo', ', '.join(f'{before}:{after}' for before, after in widths)] if any(map(any, widths)) else []
        return [self.properties(), 'of', str(self.shape()), *halo]


class Grid(Object):
    """Process grids, whose repr() shows the extents."""
    __slots__ = ()

    def _details(self: Any) -> list[str]:
        return [' x '.join(map(str, self.extents()))]


class ShellFunctions(ctypes.Structure):
    """TenonLayerShellFunctions."""
    _fields_ = [(name, pointer) for name in ('setUp', 'apply', 'applyTangent', 'applyAdjoint')]


class Typed(Object):
    """Layers created by the name of their type, and layers whose functions are written in
    Python."""
    __slots__ = ('_given',)

    def __init__(self, comm: MPI.Comm | None, type: str, **settings: Any) -> None:
        """Creates a layer of a type: "conv", "affine", "tanh", "sequential", ..., with settings by
        name. Collective on comm.

        TenonLayerCreateType()
        """
        handle = pointer()
        check(create_type(to_communicator(comm), encode(type), ref(handle)))
        self._handle = handle.value
        self.set(**settings)

    def set(self, *pair: Any, **settings: Any) -> Self:
        super().set(*pair, **settings)
        self._given = {**getattr(self, '_given', {}), **dict([pair] * bool(pair)), **settings}
        return self

    def _details(self: Any) -> list[str]:
        """The settings that this object was given."""
        return [f'{name}={value}' for name, value in getattr(self, '_given', {}).items()]

    def shell_set_functions(self, apply: Callable[..., Any], apply_adjoint: Callable[..., Any] | None = None,
                            apply_tangent: Callable[..., Any] | None = None, set_up: Callable[..., Any] | None = None) -> Self:
        """Sets the functions of a layer of type "shell", whose arguments are those of C without the
        context: apply(layer, x, y), apply_adjoint(layer, x, y, dy, dx), apply_tangent(layer, x, y,
        dx, dy), and set_up(layer, input), which returns the layout of the output. Arguments that
        may be NULL in C can be None. Local; call on all ranks.

        TenonLayerShellSetFunctions()
        """
        given = (('LayerShellSetUp', set_up), ('LayerShellApply', apply), ('LayerShellTangent', apply_tangent),
                 ('LayerShellAdjoint', apply_adjoint))
        callbacks = [callback(name, called) for name, called in given]
        table = ShellFunctions(*[ctypes.cast(made, pointer) if made else None for made in callbacks])
        check(set_functions(self._handle, ref(table)))
        context = hold(*callbacks)
        check_held(set_context(self._handle, context, release), context)
        return self
