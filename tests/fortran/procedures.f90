! SPDX-License-Identifier: BSD-2-Clause
! Procedures of the program that the library calls, each with a context of the program's own type: an operator's
! two maps, a layer's functions, the loss of an optimizer, handlers of errors and of texts.
module my_procedures
  use tenon
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  type :: counter
    real(real64) :: factor = 0
    integer :: calls = 0, level = -1
    character(len=:), allocatable :: text
  end type counter
  ! |kappa x - 3 x|^2 / 2
  type :: fit
    type(tenon_layer) :: layer
    type(tenon_dtensor) :: x, y, dy
    integer :: calls = 0
  end type fit
  ! Training of kappa: the loss and the value that the steps have by hand.
  real(real64) :: last_count = 0
contains
  subroutine scale(input, output, context, ierr)
    type(tenon_dtensor), intent(in) :: input, output
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    ierr = TENON_ERR_ARG
    select type (context)
    type is (counter)
      context%calls = context%calls + 1
      call tenon_dtensor_axpby(context%factor, input, 0.0_real64, output, ierr)
    end select
  end subroutine scale

  subroutine without_context(input, output, context, ierr)
    type(tenon_dtensor), intent(in) :: input, output
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    call tenon_dtensor_copy(input, output, ierr)
  end subroutine without_context

  subroutine refuse(input, output, context, ierr)
    type(tenon_dtensor), intent(in) :: input, output
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    ierr = TENON_ERR_STATE
  end subroutine refuse

  ! y = kappa x, and the state counts the applications.
  subroutine multiply(layer, x, y, context, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: x, y
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    type(tenon_dtensor) :: state
    real(real64), pointer :: count(:)
    call tenon_layer_shell_get_tensor(layer, TENON_SHELL_STATE, 1, state)
    call tenon_get_array(state, count)
    count(1) = count(1) + 1
    last_count = count(1)
    call tenon_restore_array(state, count)
    call tenon_dtensor_axpby(parameter_of(layer), x, 0.0_real64, y, ierr)
    select type (context)
    type is (counter)
      context%calls = context%calls + 1
    end select
  end subroutine multiply

  subroutine multiply_tangent(layer, x, y, dx, dy, context, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in), optional :: x, y, dx
    type(tenon_dtensor), intent(in) :: dy
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    type(tenon_dtensor) :: tangent
    real(real64), pointer :: kappa(:)
    ierr = TENON_ERR_STATE
    if (present(y) .or. .not. present(x)) return ! only the input is saved
    call tenon_dtensor_fill_constant(dy, 0.0_real64)
    if (present(dx)) call tenon_dtensor_axpby(parameter_of(layer), dx, 1.0_real64, dy)
    call tenon_layer_shell_get_tensor(layer, TENON_SHELL_PARAMETER_TANGENT, 1, tangent)
    call tenon_get_array_read(tangent, kappa)
    call tenon_dtensor_axpby(kappa(1), x, 1.0_real64, dy, ierr)
    call tenon_restore_array_read(tangent, kappa)
  end subroutine multiply_tangent

  subroutine multiply_adjoint(layer, x, y, dy, dx, context, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in), optional :: x, y, dx
    type(tenon_dtensor), intent(in) :: dy
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    type(tenon_dtensor) :: gradient
    real(real64), pointer :: kappa(:), input(:), cotangent(:)
    ierr = TENON_ERR_STATE
    if (present(y) .or. .not. present(x)) return
    call tenon_layer_shell_get_tensor(layer, TENON_SHELL_PARAMETER_GRADIENT, 1, gradient)
    call tenon_get_array(gradient, kappa)
    call tenon_get_array_read(x, input)
    call tenon_get_array_read(dy, cotangent)
    kappa(1) = kappa(1) + sum(input*cotangent)
    call tenon_restore_array_read(dy, cotangent)
    call tenon_restore_array_read(x, input)
    call tenon_restore_array(gradient, kappa)
    ierr = TENON_SUCCESS
    if (present(dx)) call tenon_dtensor_axpby(parameter_of(layer), dy, 0.0_real64, dx, ierr)
    select type (context)
    type is (counter)
      if (.not. present(dx)) context%text = 'dx is absent'
    end select
  end subroutine multiply_adjoint

  real(real64) function parameter_of(layer)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor) :: parameter
    real(real64), pointer :: kappa(:)
    call tenon_layer_shell_get_tensor(layer, TENON_SHELL_PARAMETER, 1, parameter)
    call tenon_get_array_read(parameter, kappa)
    parameter_of = kappa(1)
    call tenon_restore_array_read(parameter, kappa)
  end function parameter_of

  subroutine evaluate(optimizer, loss, context, ierr)
    type(tenon_optimizer), intent(in) :: optimizer
    real(real64), intent(out) :: loss
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    integer(int64) :: steps
    loss = 0
    ierr = TENON_ERR_STATE
    select type (context)
    type is (fit)
      context%calls = context%calls + 1
      call tenon_optimizer_get_steps(optimizer, steps)
      if (steps > 0) return ! the second step fails
      call tenon_layer_apply(context%layer, context%x, context%y)
      call tenon_dtensor_axpby(1.0_real64, context%y, 0.0_real64, context%dy)
      call tenon_dtensor_axpby(-3.0_real64, context%x, 1.0_real64, context%dy)
      call tenon_dtensor_norm(context%dy, loss)
      loss = loss**2/2
      call tenon_layer_apply_adjoint(context%layer, context%dy, ierr=ierr)
    end select
  end subroutine evaluate

  subroutine note_error(code, level, message, function, file, line, context)
    integer, intent(in) :: code, level, line
    character(len=*), intent(in) :: message, function, file
    class(*), intent(inout) :: context
    select type (context)
    type is (counter)
      context%calls = context%calls + 1
      context%level = level
      context%text = tenon_error_name(code)//' in '//function
      if (len(message) == 0 .or. len(file) == 0 .or. line < 0) error stop 'an error without message or place'
    end select
  end subroutine note_error

  subroutine note_text(text, context)
    character(len=*), intent(in) :: text
    class(*), intent(inout) :: context
    select type (context)
    type is (counter)
      context%text = context%text//text
    end select
  end subroutine note_text
end module my_procedures

program procedures
  use mpi_f08
  use my_procedures
  implicit none
  integer :: rank, ranks
  type(tenon_layout) :: layout
  type(tenon_dtensor) :: x, y

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call tenon_initialize()
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [4*rank + 1], [4*rank + 4], layout)
  call tenon_dtensor_create(layout, TENON_FLOAT64, x)
  call tenon_dtensor_create(layout, TENON_FLOAT64, y)
  call operators
  call layers
  call errors
  call texts
  call tenon_destroy(x)
  call tenon_destroy(y)
  call tenon_destroy(layout)
  call tenon_finalize()
  call MPI_Finalize()
contains
  subroutine operators
    type(tenon_linearop) :: op
    type(counter), target :: mine
    real(real64) :: forward, adjoint, relative
    integer :: ierr
    mine%factor = 2.5_real64
    call tenon_linearop_create_shell(layout, layout, TENON_FLOAT64, TENON_FLOAT64, scale, op, scale, mine)
    call tenon_linearop_test_adjoint(op, 1, .true., forward, adjoint, relative)
    if (abs(forward - adjoint) > 0 .or. mine%calls /= 2) error stop 'the two maps were not called once each'
    call tenon_destroy(op)

    call tenon_linearop_create_shell(layout, layout, TENON_FLOAT64, TENON_FLOAT64, without_context, op)
    call tenon_dtensor_fill_constant(x, 3.0_real64)
    call tenon_linearop_apply(op, x, y)
    call expect_largest(y, 3.0_real64)
    call tenon_destroy(op)
    if (ranks > 1) return ! an error in Apply would be fatal
    call tenon_push_error_handler(tenon_return_error_handler)
    call tenon_linearop_create_shell(layout, layout, TENON_FLOAT64, TENON_FLOAT64, refuse, op)
    call tenon_linearop_apply(op, x, y, ierr)
    if (ierr /= TENON_ERR_STATE) error stop 'the error of a map is not that of its operator'
    call tenon_linearop_apply_adjoint(op, x, y, ierr)
    if (ierr /= TENON_ERR_SUPPORT) error stop 'an operator without adjoint has one'
    call tenon_pop_error_handler()
    call tenon_destroy(op)
  end subroutine operators

  subroutine layers
    type(tenon_layer) :: layer
    type(counter), target :: mine
    type(tenon_dtensor) :: dy
    real(real64) :: relative, order
    call tenon_layer_create_type(MPI_COMM_WORLD, 'shell', layer)
    call tenon_set_name(layer, 'multiply')
    call tenon_layer_shell_set_functions(layer, multiply, multiply_adjoint, multiply_tangent, context=mine)
    call tenon_layer_shell_add_parameter(layer, 'kappa', [1], 1, 1)
    call tenon_layer_shell_add_state(layer, 'count', [1], 10.0_real64)
    call tenon_layer_shell_set_labels(layer, 'S0')
    call tenon_layer_set_data_type(layer, TENON_FLOAT64)
    call tenon_layer_set_up(layer, layout)
    call tenon_layer_initialize(layer, 1)
    call tenon_dtensor_fill_uniform(x, 1, 0, -1.0_real64, 1.0_real64)
    call tenon_layer_test_adjoint(layer, 1, x, relative=relative)
    if (relative > 1e-13_real64) error stop 'tangent and adjoint are not adjoint'
    call tenon_layer_test_taylor(layer, 1, x, order=order)
    if (mine%calls < 2) error stop 'the layer''s function was not called with its context'
    call tenon_layer_create_output_cotangent(layer, 1, dy)
    call tenon_layer_apply(layer, x, y)
    if (abs(last_count - 11) > 0) error stop 'the checks of derivatives changed the state'
    call tenon_layer_apply_adjoint(layer, dy)
    if (mine%text /= 'dx is absent') error stop 'dx should be absent'
    call optimizers(layer, dy)
    call tenon_destroy(dy)
    call tenon_destroy(layer)
  end subroutine layers

  ! A quadratic, whose least value L-BFGS finds in one step.
  subroutine optimizers(layer, dy)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: dy
    type(tenon_optimizer) :: optimizer
    type(fit), target :: mine
    real(real64) :: norm, start, loss
    integer :: ierr
    call tenon_dtensor_norm(x, norm)
    start = kappa_of(layer)
    mine%layer = layer
    mine%x = x
    mine%y = y
    mine%dy = dy
    call tenon_optimizer_create(layer, 'lbfgs', optimizer)
    call tenon_optimizer_step_closure(optimizer, evaluate, mine, loss)
    if (abs(loss - ((start - 3)*norm)**2/2) > 1e-12_real64*loss) error stop 'the loss is not that before the step'
    if (abs(kappa_of(layer) - 3) > 1e-6_real64 .or. mine%calls < 2) error stop 'L-BFGS has not found 3'
    if (abs(last_count - 11 - mine%calls) > 0) error stop 'the state does not count the applications'
    if (ranks == 1) then ! an error in a step would be fatal
      call tenon_push_error_handler(tenon_return_error_handler)
      call tenon_optimizer_step_closure(optimizer, evaluate, mine, ierr=ierr)
      call tenon_pop_error_handler()
      if (ierr /= TENON_ERR_STATE) error stop 'the error of the loss is not that of the step'
    end if
    call tenon_destroy(optimizer)
  end subroutine optimizers

  ! Outside the layer's functions.
  real(real64) function kappa_of(layer)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor) :: parameter
    real(real64), pointer :: kappa(:)
    call tenon_layer_get_parameter(layer, 1, parameter)
    call tenon_get_array_read(parameter, kappa)
    kappa_of = kappa(1)
    call tenon_restore_array_read(parameter, kappa)
    call tenon_destroy(parameter)
  end function kappa_of

  subroutine errors
    type(counter), target :: mine
    type(tenon_dtensor) :: wrong
    integer :: ierr
    call tenon_push_error_handler(note_error, mine)
    call tenon_dtensor_norm(wrong, mine%factor, ierr)
    if (ierr /= TENON_ERR_NULL .or. mine%level /= 0 .or. mine%text /= 'TENON_ERR_NULL in TenonDTensorNorm') &
      error stop 'the handler was not told of the error'
    call tenon_push_error_handler(tenon_return_error_handler)
    call tenon_dtensor_norm(wrong, mine%factor, ierr)
    call tenon_pop_error_handler()
    if (mine%calls /= 1) error stop 'a handler that is not on top was called'
    call tenon_pop_error_handler()
    call tenon_set_fatal_error_handler(note_error, mine)
    call tenon_set_fatal_error_handler()
  end subroutine errors

  subroutine texts
    type(counter), target :: mine
    mine%text = ''
    call tenon_set_output_handler(note_text, mine)
    call tenon_view(layout)
    call tenon_set_output_handler()
    if (rank == 0 .and. index(mine%text, 'Layout: [') /= 1) error stop 'the view went elsewhere'
  end subroutine texts

  subroutine expect_largest(tensor, value)
    type(tenon_dtensor), intent(in) :: tensor
    real(real64), intent(in) :: value
    real(real64) :: largest
    call tenon_dtensor_max_abs(tensor, largest)
    if (abs(largest - value) > 0) error stop 'the tensor has another value'
  end subroutine expect_largest
end program procedures
