# SPDX-License-Identifier: BSD-2-Clause
"""One public function as a member of a class, common to all languages with classes: the class, the
name, and the arguments that other arguments imply.

The name is that of the function without its class: a leading Get is dropped (norm() of TenonDTensorNorm, layout()
of TenonDTensorGetLayout), and a Create makes a constructor, a static member (TenonLinearOpCreateHalo is
LinearOp.halo()) or, if its first argument is of the class itself, a member (op.adjoint()). A function is a member
of the object that it changes, or else of the first of its class. Information that the declarations do not contain
is listed in the tables below, with a reason for each row. A row for a call that is no longer declared has no
effect: cxx/generate.py reports it."""
from headers import words

# Names that do not follow from the rule above. A key is a call, or the part of its name after the
# class.
NAMES = {
    'GetClass': 'className',  # class is a keyword
    'GetDim': 'dimensions',  # what is counted
    'Register': 'registerType',  # register is a keyword
    'CreateType': 'ofType',  # type() returns the type
    'TenonDTensorFillConstant': 'fill',  # with one value, as std::fill
    'TenonDatasetGetBatchCount': 'batches',  # beside batch()
    'TenonLayerGetParameterAt': 'parameter',  # the type of the argument tells path from index
    'TenonLayerGraphAddNode': 'addNode',  # nothing else has nodes
    'TenonLayerSequentialAdd': 'add',  # as the containers of C++ have it
    'TenonPlanGetText': 'text',  # getText() returns a setting
    'TenonLinearOpJacobianSetPoint': 'setPoint',  # beside Layer::jacobian()
    'TenonReductionProgramsGetText': 'text',  # of a program, and no setting
}

# Calls of another class than their name begins with: the class, and the name of the member.
MEMBERS_OF = {
    'TenonLinearOpCreateJacobian': ('TenonLayer', 'jacobian'),  # the derivative of the layer
}

# Constructors in addition to TenonXCreate, distinguished by their arguments.
CONSTRUCTORS = {
    'TenonLayoutCreateSharded',  # the usual way to make a layout
    'TenonLayoutCreateFromBoxes',  # the usual way in a solver
}

# The main result of a call with several results. The others become optional pointers.
RETURNED = {
    'TenonLayerTestAdjoint': 'relative',  # the two pairings only explain it
    'TenonLayerTestTaylor': 'order',  # the remainder only explains it
    'TenonLinearOpTestAdjoint': 'relative',  # as for layers
}

# Calls that use a user function only until they return. In other calls a function without a
# destroyer can be called later, and is passed as in C: as a pointer, with its context.
ENDS_WITHIN = {'TenonOptimizerStepClosure'}

# Values that are read by key or option name: getInt("epoch") keeps its Get, since a type follows.
TYPE_WORDS = {'Int', 'Integers', 'Real', 'Bool', 'Flag', 'Text', 'String'}

# Lengths that are not arguments: the expression by which an object, {0}, returns them through its
# members and the arguments of the call. None: the object does not know the length, and the caller
# passes it.
LENGTHS = {
    ('TenonLayout', 'ndim'): '{0}.dimensions()',
    ('TenonDTensor', 'ndim'): '{0}.layout().dimensions()',
    ('TenonLayer', 'spatial'): '{0}.spatialDimensions()',
    ('TenonPartition', 'axes'): '{0}.axes()',
    ('TenonMachine', 'devices'): '{0}.counts().devices',
    ('TenonReductionPrograms', 'number of programs'): '{0}.count()',
    ('TenonReductionPrograms', 'groups * members'): '{0}.step(index, step).groups * {0}.step(index, step).members',
    ('TenonPlacementList', 'number of placements'): '{0}.count()',
    ('TenonPlacementList', 'axes'): None,  # there is no call that returns the axes or the system
    ('TenonPlacementList', 'axes * levels'): None,
    ('TenonPlacementList', 'levels of the system'): None,
}


def class_of(handle):
    """Returns Layer for TenonLayer."""
    return handle.replace('Tenon', '', 1)


class Member:
    def __init__(self, function, headers):
        self.function, self.headers = function, headers
        self.find_owner()
        self.find_name()
        self.find_callables()

    # The class.

    def find_owner(self):
        """Finds the class, the object and the handle that a constructor creates."""
        name = self.function.name
        owners = [h for h in ['TenonObject', *self.headers.handles]
                  if name.startswith(h) and name[len(h):len(h) + 1].isupper()]
        self.owner = max(owners, key=len, default=None)
        self.rest = name[len(self.owner or 'Tenon'):]
        if name in MEMBERS_OF:
            self.owner = MEMBERS_OF[name][0]
        ours = [a for a in self.function.arguments
                if a.base == self.owner and not a.stars and not a.is_list]
        self.words = words(self.rest)
        self.verb = self.words[0]
        if self.verb != 'Apply' and self.words[1:] and self.words[1] in ('Get', 'Set', 'Add'):
            self.verb = self.words[1]  # the verb follows a type of object or of the process:
                                       # ShellGetTensor, OptionsGetFlag
        is_first = ours and self.function.arguments[0] is ours[0]
        if self.words[0] == 'Create' and not is_first:
            ours = []
        changed = [a for a in ours if a.direction != 'in']
        self.this = (changed or ours or [None])[0]
        self.is_constructor = self.rest == 'Create' or name in CONSTRUCTORS
        self.made = None
        if self.is_constructor:
            self.made = self.function.arguments[-1]
            if self.this or (self.made.base, self.made.stars) != (self.owner, 1):
                raise SystemExit(f'{name}: a constructor makes a handle of its class, its last argument')

    def find_name(self):
        name = self.function.name
        plain = list(self.words)
        if name in MEMBERS_OF:
            self.name = MEMBERS_OF[name][1]
        elif name in NAMES or self.rest in NAMES:
            self.name = NAMES.get(name) or NAMES[self.rest]
        else:
            after = plain.index(self.verb) + 1
            if self.verb == 'Get' and plain[after:] and (plain[after] not in TYPE_WORDS or plain[after + 1:]):
                del plain[after - 1]
            elif plain[0] == 'Create' and plain[1:] and (not self.this or self.this.base == self.made_class()):
                plain = plain[1:]
            self.name = plain[0].lower() + ''.join(plain[1:])

    def made_class(self):
        last = self.function.arguments[-1]
        return last.base if last.stars == 1 else None

    # Arguments.

    def find_callables(self):
        """Finds the user functions that share a context and own it, or that are needed only
        during the call."""
        arguments = self.function.arguments
        functions = [a for a in arguments if a.base in self.headers.callbacks]
        self.destroyer = next((a for a in functions if self.is_destroyer(a)), None)
        self.context = next((a for a in arguments if a.name == 'context' and a.base == 'void'), None)
        self.callables = []
        if self.context and (self.destroyer or self.function.name in ENDS_WITHIN):
            self.callables = [a for a in functions if a is not self.destroyer]

    def told_length(self, of):
        """Returns the argument whose object knows the length of a list, and the expression from
        LENGTHS."""
        for argument in self.function.arguments:
            if (argument.base, of.length) in LENGTHS:
                return argument, LENGTHS[argument.base, of.length]
        raise SystemExit(f'{self.function.name}: {of.name}: no argument tells the length "{of.length}"; add a row to LENGTHS of '
                         'src/interfaces/member.py')

    def is_destroyer(self, argument):
        of_user = self.headers.callbacks[argument.base]
        return of_user.result == 'void' and [a.name for a in of_user.arguments] == ['context']

    @staticmethod
    def is_given(length):
        """Whether an argument is the length of lists that the call returns: the caller passes it."""
        return all(a.direction == 'out' and not a.is_nullable for a in length.lists)

    def given_length(self, of):
        """Returns the argument that the caller passes as the length of a returned list, or None."""
        return next((a for a in self.function.arguments if of in a.lists and self.is_given(a)), None)

    def counted(self, owner):
        """Returns the list whose length is passed as `owner`, one that cannot be NULL."""
        lists = sorted(owner.lists, key=lambda a: a.is_nullable)
        if lists[0].is_nullable and len(lists) > 1:
            raise SystemExit(f'{self.function.name}: no list tells {owner.name}, since all may be NULL')
        return lists[0]

    # Forms.

    @property
    def is_static(self):
        return bool(self.owner) and not self.this and not self.is_constructor

    @property
    def returns_itself(self):
        """Setters return their object, for chains of calls."""
        sets = self.verb in ('Set', 'Add') and 'Up' not in self.words
        return bool(self.this) and not self.results and sets
