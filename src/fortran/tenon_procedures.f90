! SPDX-License-Identifier: BSD-2-Clause
! Procedures of the program that the library calls. A call with procedures allocates a box that
! contains pointers to them and to their context, any variable of the program. The library gets the
! address of the box and of a C function in this module, which calls the procedure in the box:
!
!   tenon_linearop_create_shell(apply, context)   allocates a linearop_box
!   library -> run_apply(x, y, address of box)    calls box%apply(x, y, box%context, code)
!   library -> free_linearop_box                  when the object is destroyed
!
! The context must be a target and outlive the object. A NULL argument of C becomes an absent
! argument. Pass module procedures: internal procedures need an executable stack.
module tenon_procedures
  use iso_c_binding
  use tenon_types
  use tenon_c
  use tenon_convert
  implicit none
  private
  public :: tenon_linearop_map, tenon_linearop_create_shell
  public :: tenon_shell_set_up, tenon_shell_apply, tenon_shell_tangent, tenon_shell_adjoint
  public :: tenon_layer_shell_set_functions
  public :: tenon_optimizer_closure, tenon_optimizer_step_closure
  public :: tenon_error_handler, tenon_push_error_handler, tenon_pop_error_handler
  public :: tenon_set_fatal_error_handler, tenon_print_error_handler, tenon_return_error_handler
  public :: tenon_text_handler, tenon_set_output_handler, tenon_set_error_output_handler

  abstract interface
    ! One of the two maps of an operator: y <- F x, or x <- F* y.
    subroutine tenon_linearop_map(input, output, context, ierr)
      import :: tenon_dtensor, c_int
      type(tenon_dtensor), intent(in) :: input, output
      class(*), intent(inout) :: context
      integer(c_int), intent(out) :: ierr
    end subroutine tenon_linearop_map

    ! The functions of a shell layer, see tenon/ext/layer.h.
    subroutine tenon_shell_set_up(layer, input, output, context, ierr)
      import :: tenon_layer, tenon_layout, c_int
      type(tenon_layer), intent(in) :: layer
      type(tenon_layout), intent(in) :: input
      type(tenon_layout), intent(out) :: output
      class(*), intent(inout) :: context
      integer(c_int), intent(out) :: ierr
    end subroutine tenon_shell_set_up

    subroutine tenon_shell_apply(layer, x, y, context, ierr)
      import :: tenon_layer, tenon_dtensor, c_int
      type(tenon_layer), intent(in) :: layer
      type(tenon_dtensor), intent(in) :: x, y
      class(*), intent(inout) :: context
      integer(c_int), intent(out) :: ierr
    end subroutine tenon_shell_apply

    ! x and y are absent if they were not saved, dx if it is zero.
    subroutine tenon_shell_tangent(layer, x, y, dx, dy, context, ierr)
      import :: tenon_layer, tenon_dtensor, c_int
      type(tenon_layer), intent(in) :: layer
      type(tenon_dtensor), intent(in), optional :: x, y, dx
      type(tenon_dtensor), intent(in) :: dy
      class(*), intent(inout) :: context
      integer(c_int), intent(out) :: ierr
    end subroutine tenon_shell_tangent

    ! x and y are absent if they were not saved, dx if it is not needed.
    subroutine tenon_shell_adjoint(layer, x, y, dy, dx, context, ierr)
      import :: tenon_layer, tenon_dtensor, c_int
      type(tenon_layer), intent(in) :: layer
      type(tenon_dtensor), intent(in), optional :: x, y, dx
      type(tenon_dtensor), intent(in) :: dy
      class(*), intent(inout) :: context
      integer(c_int), intent(out) :: ierr
    end subroutine tenon_shell_adjoint

    ! Evaluates the loss and adds to its gradients, see TenonOptimizerClosure in tenon/optimizer.h.
    subroutine tenon_optimizer_closure(optimizer, loss, context, ierr)
      import :: tenon_optimizer, c_double, c_int
      type(tenon_optimizer), intent(in) :: optimizer
      real(c_double), intent(out) :: loss
      class(*), intent(inout) :: context
      integer(c_int), intent(out) :: ierr
    end subroutine tenon_optimizer_closure

    ! See TenonErrorHandler in tenon/error.h.
    subroutine tenon_error_handler(code, level, message, function, file, line, context)
      import :: c_int
      integer(c_int), intent(in) :: code, level, line
      character(len=*), intent(in) :: message, function, file
      class(*), intent(inout) :: context
    end subroutine tenon_error_handler

    ! A piece of text, line ends included.
    subroutine tenon_text_handler(text, context)
      character(len=*), intent(in) :: text
      class(*), intent(inout) :: context
    end subroutine tenon_text_handler
  end interface

  ! The boxes.
  type :: linearop_box
    procedure(tenon_linearop_map), pointer, nopass :: apply => null(), adjoint => null()
    class(*), pointer :: context => null()
  end type linearop_box

  type :: shell_box
    procedure(tenon_shell_set_up), pointer, nopass :: set_up => null()
    procedure(tenon_shell_apply), pointer, nopass :: apply => null()
    procedure(tenon_shell_tangent), pointer, nopass :: tangent => null()
    procedure(tenon_shell_adjoint), pointer, nopass :: adjoint => null()
    class(*), pointer :: context => null()
  end type shell_box

  ! The C struct TenonLayerShellFunctions.
  type, bind(C) :: shell_functions
    type(c_funptr) :: set_up, apply, tangent, adjoint
  end type shell_functions

  type :: closure_box
    procedure(tenon_optimizer_closure), pointer, nopass :: closure => null()
    class(*), pointer :: context => null()
  end type closure_box

  type :: error_box
    procedure(tenon_error_handler), pointer, nopass :: handler => null()
    class(*), pointer :: context => null()
    type(error_box), pointer :: below => null()
  end type error_box

  type :: text_box
    procedure(tenon_text_handler), pointer, nopass :: handler => null()
    class(*), pointer :: context => null()
  end type text_box

  ! The context of procedures for which none was passed; the stack of boxes of pushed error handlers, whose order is
  ! that of the library's stack; and the boxes of the handlers that were set.
  integer, target, save :: no_context = 0
  type(error_box), pointer, save :: error_stack => null(), fatal => null()
  type(text_box), pointer, save :: output => null(), error_output => null()
contains

  ! The context of the procedures if the argument was omitted.
  function context_or_none(context) result(answer)
    class(*), intent(in), target, optional :: context
    class(*), pointer :: answer
    answer => no_context
    if (present(context)) answer => context
  end function context_or_none

  ! Operators

  ! Creates an operator of type "shell" from two procedures. Collective on the layouts.
  subroutine tenon_linearop_create_shell(domain, range, domain_type, range_type, apply, op, apply_adjoint, &
      context, ierr)
    type(tenon_layout), intent(in) :: domain, range
    integer(c_int), intent(in) :: domain_type, range_type
    procedure(tenon_linearop_map) :: apply
    type(tenon_linearop), intent(out) :: op
    procedure(tenon_linearop_map), optional :: apply_adjoint
    class(*), intent(inout), target, optional :: context
    integer(c_int), intent(out), optional :: ierr
    type(linearop_box), pointer :: box
    type(c_funptr) :: adjoint
    integer(c_int) :: code
    allocate (box)
    box%apply => apply
    box%context => context_or_none(context)
    adjoint = c_null_funptr
    if (present(apply_adjoint)) then
      box%adjoint => apply_adjoint
      adjoint = c_funloc(run_adjoint)
    end if
    code = TenonLinearOpCreateShell(domain%handle, range%handle, domain_type, range_type, c_funloc(run_apply), &
      adjoint, c_loc(box), c_funloc(free_linearop_box), op%handle)
    if (code /= TENON_SUCCESS) deallocate (box)
    call finish(code, ierr)
  end subroutine tenon_linearop_create_shell

  function run_apply(input, output, context) bind(C) result(code)
    type(c_ptr), value :: input, output, context
    integer(c_int) :: code
    type(linearop_box), pointer :: box
    call c_f_pointer(context, box)
    call box%apply(tenon_dtensor(input), tenon_dtensor(output), box%context, code)
  end function run_apply

  function run_adjoint(input, output, context) bind(C) result(code)
    type(c_ptr), value :: input, output, context
    integer(c_int) :: code
    type(linearop_box), pointer :: box
    call c_f_pointer(context, box)
    call box%adjoint(tenon_dtensor(input), tenon_dtensor(output), box%context, code)
  end function run_adjoint

  subroutine free_linearop_box(context) bind(C)
    type(c_ptr), value :: context
    type(linearop_box), pointer :: box
    call c_f_pointer(context, box)
    deallocate (box)
  end subroutine free_linearop_box

  ! Layers

  ! Sets the procedures of a shell layer and their context. Local; call on all ranks.
  subroutine tenon_layer_shell_set_functions(layer, apply, apply_adjoint, apply_tangent, set_up, context, ierr)
    type(tenon_layer), intent(in) :: layer
    procedure(tenon_shell_apply) :: apply
    procedure(tenon_shell_adjoint), optional :: apply_adjoint
    procedure(tenon_shell_tangent), optional :: apply_tangent
    procedure(tenon_shell_set_up), optional :: set_up
    class(*), intent(inout), target, optional :: context
    integer(c_int), intent(out), optional :: ierr
    type(shell_functions), target :: functions
    type(shell_box), pointer :: box
    integer(c_int) :: code
    allocate (box)
    box%apply => apply
    box%context => context_or_none(context)
    functions = shell_functions(c_null_funptr, c_funloc(run_shell_apply), c_null_funptr, c_null_funptr)
    if (present(set_up)) then
      box%set_up => set_up
      functions%set_up = c_funloc(run_shell_set_up)
    end if
    if (present(apply_tangent)) then
      box%tangent => apply_tangent
      functions%tangent = c_funloc(run_shell_tangent)
    end if
    if (present(apply_adjoint)) then
      box%adjoint => apply_adjoint
      functions%adjoint = c_funloc(run_shell_adjoint)
    end if
    code = TenonLayerShellSetFunctions(layer%handle, c_loc(functions))
    if (code == TENON_SUCCESS) &
      code = TenonLayerShellSetContext(layer%handle, c_loc(box), c_funloc(free_shell_box))
    if (code /= TENON_SUCCESS) deallocate (box)
    call finish(code, ierr)
  end subroutine tenon_layer_shell_set_functions

  ! A handle as an optional argument: a null pointer is passed as an absent argument.
  function present_if_set(handle, holder) result(answer)
    type(c_ptr), intent(in) :: handle
    type(tenon_dtensor), intent(inout), target :: holder
    type(tenon_dtensor), pointer :: answer
    answer => null()
    holder%handle = handle
    if (c_associated(handle)) answer => holder
  end function present_if_set

  function run_shell_set_up(layer, input, output, context) bind(C) result(code)
    type(c_ptr), value :: layer, input, context
    type(c_ptr), intent(inout) :: output
    integer(c_int) :: code
    type(tenon_layout) :: made
    type(shell_box), pointer :: box
    call c_f_pointer(context, box)
    call box%set_up(tenon_layer(layer), tenon_layout(input), made, box%context, code)
    output = made%handle
  end function run_shell_set_up

  function run_shell_apply(layer, x, y, context) bind(C) result(code)
    type(c_ptr), value :: layer, x, y, context
    integer(c_int) :: code
    type(shell_box), pointer :: box
    call c_f_pointer(context, box)
    call box%apply(tenon_layer(layer), tenon_dtensor(x), tenon_dtensor(y), box%context, code)
  end function run_shell_apply

  function run_shell_tangent(layer, x, y, dx, dy, context) bind(C) result(code)
    type(c_ptr), value :: layer, x, y, dx, dy, context
    integer(c_int) :: code
    type(tenon_dtensor), target :: at_x, at_y, at_dx
    type(shell_box), pointer :: box
    call c_f_pointer(context, box)
    call box%tangent(tenon_layer(layer), present_if_set(x, at_x), present_if_set(y, at_y), &
      present_if_set(dx, at_dx), tenon_dtensor(dy), box%context, code)
  end function run_shell_tangent

  function run_shell_adjoint(layer, x, y, dy, dx, context) bind(C) result(code)
    type(c_ptr), value :: layer, x, y, dy, dx, context
    integer(c_int) :: code
    type(tenon_dtensor), target :: at_x, at_y, at_dx
    type(shell_box), pointer :: box
    call c_f_pointer(context, box)
    call box%adjoint(tenon_layer(layer), present_if_set(x, at_x), present_if_set(y, at_y), tenon_dtensor(dy), &
      present_if_set(dx, at_dx), box%context, code)
  end function run_shell_adjoint

  subroutine free_shell_box(context) bind(C)
    type(c_ptr), value :: context
    type(shell_box), pointer :: box
    call c_f_pointer(context, box)
    deallocate (box)
  end subroutine free_shell_box

  ! Optimizers

  ! Evaluates the loss and updates all parameters. Collective on the layer.
  subroutine tenon_optimizer_step_closure(optimizer, closure, context, loss, ierr)
    type(tenon_optimizer), intent(in) :: optimizer
    procedure(tenon_optimizer_closure) :: closure
    class(*), intent(inout), target, optional :: context
    real(c_double), intent(out), optional :: loss
    integer(c_int), intent(out), optional :: ierr
    type(closure_box), target :: box
    integer(c_int) :: code
    box%closure => closure
    box%context => context_or_none(context)
    code = TenonOptimizerStepClosure(optimizer%handle, c_funloc(run_closure), c_loc(box), loss)
    call finish(code, ierr)
  end subroutine tenon_optimizer_step_closure

  function run_closure(optimizer, loss, context) bind(C) result(code)
    type(c_ptr), value :: optimizer, context
    real(c_double), intent(out) :: loss
    integer(c_int) :: code
    type(closure_box), pointer :: box
    call c_f_pointer(context, box)
    call box%closure(tenon_optimizer(optimizer), loss, box%context, code)
  end function run_closure

  ! Errors

  ! Sets the error handler of the process. Not collective.
  subroutine tenon_push_error_handler(handler, context, ierr)
    procedure(tenon_error_handler) :: handler
    class(*), intent(inout), target, optional :: context
    integer(c_int), intent(out), optional :: ierr
    type(error_box), pointer :: box
    integer(c_int) :: code
    allocate (box)
    box%handler => handler
    box%context => context_or_none(context)
    box%below => error_stack
    code = TenonPushErrorHandler(c_funloc(run_error_handler), c_loc(box))
    if (code == TENON_SUCCESS) then
      error_stack => box
    else
      deallocate (box)
    end if
    call finish(code, ierr)
  end subroutine tenon_push_error_handler

  ! Removes the error handler that was pushed last. Not collective.
  subroutine tenon_pop_error_handler(ierr)
    integer(c_int), intent(out), optional :: ierr
    type(error_box), pointer :: box
    integer(c_int) :: code
    code = TenonPopErrorHandler()
    if (code == TENON_SUCCESS .and. associated(error_stack)) then
      box => error_stack
      error_stack => box%below
      deallocate (box)
    end if
    call finish(code, ierr)
  end subroutine tenon_pop_error_handler

  ! Sets the handler of fatal errors; without one the default is restored. Not collective.
  subroutine tenon_set_fatal_error_handler(handler, context, ierr)
    procedure(tenon_error_handler), optional :: handler
    class(*), intent(inout), target, optional :: context
    integer(c_int), intent(out), optional :: ierr
    type(error_box), pointer :: box
    integer(c_int) :: code
    box => null()
    if (present(handler)) then
      allocate (box)
      box%handler => handler
      box%context => context_or_none(context)
      code = TenonSetFatalErrorHandler(c_funloc(run_error_handler), c_loc(box))
    else
      code = TenonSetFatalErrorHandler(c_null_funptr, c_null_ptr)
    end if
    if (associated(fatal)) deallocate (fatal)
    fatal => box
    call finish(code, ierr)
  end subroutine tenon_set_fatal_error_handler

  ! The C function for all error handlers: its context is the box.
  subroutine run_error_handler(code, level, message, function, file, line, context) bind(C)
    integer(c_int), value :: code, level, line
    type(c_ptr), value :: message, function, file, context
    type(error_box), pointer :: box
    call c_f_pointer(context, box)
    call box%handler(code, level, text_at(message), text_at(function), text_at(file), line, box%context)
  end subroutine run_error_handler

  ! Prints an error on standard error; the default error handler.
  subroutine tenon_print_error_handler(code, level, message, function, file, line, context)
    integer(c_int), intent(in) :: code, level, line
    character(len=*), intent(in) :: message, function, file
    class(*), intent(inout) :: context
    call TenonPrintErrorHandler(code, level, message//c_null_char, function//c_null_char, file//c_null_char, &
      line, c_null_ptr)
  end subroutine tenon_print_error_handler

  ! Does nothing; the silent error handler.
  subroutine tenon_return_error_handler(code, level, message, function, file, line, context)
    integer(c_int), intent(in) :: code, level, line
    character(len=*), intent(in) :: message, function, file
    class(*), intent(inout) :: context
    call TenonReturnErrorHandler(code, level, message//c_null_char, function//c_null_char, &
      file//c_null_char, line, c_null_ptr)
  end subroutine tenon_return_error_handler

  ! Texts

  ! Sets the receiver of views, logs and help; without one it is standard output. Not collective.
  subroutine tenon_set_output_handler(handler, context, ierr)
    procedure(tenon_text_handler), optional :: handler
    class(*), intent(inout), target, optional :: context
    integer(c_int), intent(out), optional :: ierr
    type(text_box), pointer :: box
    integer(c_int) :: code
    call box_text_handler(box, handler, context)
    if (associated(box)) then
      code = TenonSetOutputHandler(c_funloc(run_text_handler), c_loc(box))
    else
      code = TenonSetOutputHandler(c_null_funptr, c_null_ptr)
    end if
    if (associated(output)) deallocate (output)
    output => box
    call finish(code, ierr)
  end subroutine tenon_set_output_handler

  ! Sets the receiver of errors and warnings; without one it is standard error. Not collective.
  subroutine tenon_set_error_output_handler(handler, context, ierr)
    procedure(tenon_text_handler), optional :: handler
    class(*), intent(inout), target, optional :: context
    integer(c_int), intent(out), optional :: ierr
    type(text_box), pointer :: box
    integer(c_int) :: code
    call box_text_handler(box, handler, context)
    if (associated(box)) then
      code = TenonSetErrorOutputHandler(c_funloc(run_text_handler), c_loc(box))
    else
      code = TenonSetErrorOutputHandler(c_null_funptr, c_null_ptr)
    end if
    if (associated(error_output)) deallocate (error_output)
    error_output => box
    call finish(code, ierr)
  end subroutine tenon_set_error_output_handler

  ! Returns a new box, or null without a handler.
  subroutine box_text_handler(box, handler, context)
    type(text_box), pointer, intent(out) :: box
    procedure(tenon_text_handler), optional :: handler
    class(*), intent(inout), target, optional :: context
    box => null()
    if (.not. present(handler)) return
    allocate (box)
    box%handler => handler
    box%context => context_or_none(context)
  end subroutine box_text_handler

  subroutine run_text_handler(text, length, context) bind(C)
    type(c_ptr), value :: text, context
    integer(c_int), value :: length
    character(kind=c_char), pointer :: characters(:)
    character(len=length) :: piece
    type(text_box), pointer :: box
    integer :: i
    call c_f_pointer(text, characters, [length])
    do i = 1, length
      piece(i:i) = characters(i)
    end do
    call c_f_pointer(context, box)
    call box%handler(piece, box%context)
  end subroutine run_text_handler
end module tenon_procedures
