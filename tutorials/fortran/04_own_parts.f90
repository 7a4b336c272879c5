! SPDX-License-Identifier: BSD-2-Clause
! 04 Own parts: your own operator and your own layer.
!
! What you learn: a shell operator calls your procedures, and can be composed with the library's operators;
! tenon_linearop_test_adjoint() verifies your adjoint. A shell layer does the same for a differentiable map with
! parameters, and is trained like the library's layers.
!
! The operator is the second difference of a periodic field: the library's halo exchange H, then a stencil S on
! local memory, L = S H. The layer is a diffusion step with an unknown conductivity, y = x + kappa L x. It is
! trained on the result of a step with a conductivity of 0.2.
!
!   mpiexec -n 4 fortran_04_own_parts
module parts
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none

  ! The layer's context: the operator L, and a tensor for L x. A context is any variable of the program; the
  ! procedures find its type by `select type`.
  type :: diffusion
    type(tenon_linearop) :: laplacian
    type(tenon_dtensor) :: change
  end type diffusion
contains
  ! The operator's procedures. The input has one more cell on each side than the output. Without `ierr` an error
  ! in them ends the program.
  subroutine stencil(input, output, context, ierr)
    type(tenon_dtensor), intent(in) :: input, output
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    real(real64), pointer :: wide(:), narrow(:)
    integer :: i
    call tenon_get_array_read(input, wide)
    call tenon_get_array(output, narrow)
    do i = lbound(narrow, 1), ubound(narrow, 1)
      narrow(i) = wide(i - 1) - 2*wide(i) + wide(i + 1)
    end do
    call tenon_restore_array(output, narrow)
    call tenon_restore_array_read(input, wide)
    ierr = TENON_SUCCESS
  end subroutine stencil

  subroutine stencil_adjoint(input, output, context, ierr)
    type(tenon_dtensor), intent(in) :: input, output
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    real(real64), pointer :: wide(:), narrow(:)
    integer :: i
    call tenon_dtensor_fill_constant(output, 0.0_real64)
    call tenon_get_array_read(input, narrow)
    call tenon_get_array(output, wide)
    do i = lbound(narrow, 1), ubound(narrow, 1)
      wide(i - 1) = wide(i - 1) + narrow(i)
      wide(i) = wide(i) - 2*narrow(i)
      wide(i + 1) = wide(i + 1) + narrow(i)
    end do
    call tenon_restore_array(output, wide)
    call tenon_restore_array_read(input, narrow)
    ierr = TENON_SUCCESS
  end subroutine stencil_adjoint

  subroutine create_laplacian(plain, laplacian)
    type(tenon_layout), intent(in) :: plain
    type(tenon_linearop), intent(out) :: laplacian
    type(tenon_layout) :: wide
    type(tenon_linearop) :: steps(2)
    call tenon_layout_create_like(plain, wide)
    call tenon_layout_set_halo(wide, 1, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC)
    call tenon_layout_set_up(wide)
    call tenon_linearop_create_halo(plain, wide, TENON_FLOAT64, steps(1))
    call tenon_linearop_create_shell(wide, plain, TENON_FLOAT64, TENON_FLOAT64, stencil, steps(2), stencil_adjoint)
    call tenon_linearop_create_composition(steps, laplacian)
    call tenon_destroy(steps(1))
    call tenon_destroy(steps(2))
    call tenon_destroy(wide)
  end subroutine create_laplacian

  real(real64) function conductivity(layer)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor) :: parameter
    real(real64), pointer :: kappa(:)
    call tenon_layer_shell_get_tensor(layer, TENON_SHELL_PARAMETER, 1, parameter)
    call tenon_get_array_read(parameter, kappa)
    conductivity = kappa(1)
    call tenon_restore_array_read(parameter, kappa)
  end function conductivity

  ! y <- x + kappa L x.
  subroutine diffuse(layer, x, y, context, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in) :: x, y
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    select type (context)
    type is (diffusion)
      call tenon_dtensor_copy(x, y)
      call tenon_linearop_apply(context%laplacian, x, context%change)
      call tenon_dtensor_axpby(conductivity(layer), context%change, 1.0_real64, y)
    end select
    ierr = TENON_SUCCESS
  end subroutine diffuse

  ! dx <- dy + kappa L* dy. The derivative with respect to kappa is <dy, L x>; each process adds the contribution
  ! of its own cells to the gradient, and Tenon sums them. dx is absent where nobody needs it.
  subroutine diffuse_adjoint(layer, x, y, dy, dx, context, ierr)
    type(tenon_layer), intent(in) :: layer
    type(tenon_dtensor), intent(in), optional :: x, y, dx
    type(tenon_dtensor), intent(in) :: dy
    class(*), intent(inout) :: context
    integer, intent(out) :: ierr
    type(tenon_dtensor) :: gradient
    real(real64), pointer :: change(:), cotangent(:), sum_of_products(:)
    integer :: i
    ierr = TENON_SUCCESS
    select type (context)
    type is (diffusion)
      call tenon_layer_shell_get_tensor(layer, TENON_SHELL_PARAMETER_GRADIENT, 1, gradient)
      call tenon_linearop_apply(context%laplacian, x, context%change)
      call tenon_get_array_read(context%change, change)
      call tenon_get_array_read(dy, cotangent)
      call tenon_get_array(gradient, sum_of_products)
      do i = lbound(change, 1), ubound(change, 1)
        sum_of_products(1) = sum_of_products(1) + cotangent(i)*change(i)
      end do
      call tenon_restore_array(gradient, sum_of_products)
      call tenon_restore_array_read(dy, cotangent)
      call tenon_restore_array_read(context%change, change)
      if (.not. present(dx)) return
      call tenon_dtensor_copy(dy, dx)
      call tenon_linearop_apply_adjoint(context%laplacian, dy, context%change)
      call tenon_dtensor_axpby(conductivity(layer), context%change, 1.0_real64, dx)
    end select
  end subroutine diffuse_adjoint
end module parts

program own_parts
  use mpi_f08
  use parts
  implicit none
  integer, parameter :: cells = 60, training_steps = 40
  type(tenon_partition) :: partition
  type(tenon_layout) :: plain
  type(tenon_layer) :: layer
  type(tenon_dtensor) :: x, target_field
  type(diffusion), target :: context ! lives as long as the layer
  real(real64) :: forward, adjoint
  integer :: rank, processes

  call tenon_options_own_command_line()
  call tenon_initialize('04 Own parts: your own operator and layer'//new_line('a'))
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, processes)
  call tenon_partition_create(MPI_COMM_WORLD, [processes], partition)
  call tenon_layout_create_sharded(partition, [cells], 'S0', plain)
  call create_laplacian(plain, context%laplacian)
  call tenon_dtensor_create(plain, TENON_FLOAT64, context%change)

  call tenon_linearop_test_adjoint(context%laplacian, 1, .true., forward, adjoint)
  if (rank == 0) print '(2a)', '<L x, y> and <x, L* y> are equal: ', &
    trim(merge('yes', 'no ', abs(forward - adjoint) <= 0))

  call create_example()
  call create_diffusion()
  call train()

  call tenon_destroy(layer)
  call tenon_destroy(target_field)
  call tenon_destroy(x)
  call tenon_destroy(context%change)
  call tenon_destroy(context%laplacian)
  call tenon_destroy(plain)
  call tenon_destroy(partition)
  call tenon_finalize()
contains
  ! The training data: a field, and the field after a step with kappa = 0.2.
  subroutine create_example()
    call tenon_dtensor_create(plain, TENON_FLOAT64, x)
    call tenon_dtensor_create(plain, TENON_FLOAT64, target_field)
    call tenon_dtensor_fill_uniform(x, 1, 0, -1.0_real64, 1.0_real64)
    call tenon_dtensor_copy(x, target_field)
    call tenon_linearop_apply_add(context%laplacian, 0.2_real64, x, 1.0_real64, target_field)
  end subroutine create_example

  subroutine create_diffusion()
    call tenon_layer_create_type(MPI_COMM_WORLD, 'shell', layer)
    call tenon_set_name(layer, 'diffusion')
    call tenon_layer_shell_set_functions(layer, diffuse, diffuse_adjoint, context=context)
    call tenon_layer_shell_add_parameter(layer, 'kappa', [1], 0, 0)
    call tenon_layer_shell_set_labels(layer, 'S0')
    call tenon_layer_set_data_type(layer, TENON_FLOAT64)
    call tenon_layer_set_up(layer, plain)
  end subroutine create_diffusion

  ! 1.176e-02, as C prints it.
  function scientific(value) result(text)
    real(real64), intent(in) :: value
    character(len=9) :: text
    write (text, '(es9.3e2)') value
    text(6:6) = 'e'
  end function scientific

  ! Minimises the mean squared error by gradient descent.
  subroutine train()
    type(tenon_layer) :: loss
    type(tenon_optimizer) :: optimizer
    type(tenon_dtensor) :: y, dy, value, dvalue, kappa
    type(tenon_layout) :: layout
    real(real64) :: error, learned
    integer :: step
    call tenon_layer_create_output(layer, 1, y)
    call tenon_layer_create_output_cotangent(layer, 1, dy)
    call tenon_layer_create_type(MPI_COMM_WORLD, 'meansquarederror', loss)
    call tenon_layer_set_data_type(loss, TENON_FLOAT64)
    call tenon_layer_get_output_layout(layer, 1, layout)
    call tenon_layer_set_up(loss, layout)
    call tenon_layer_set_target(loss, target_field)
    call tenon_layer_create_output(loss, 1, value)
    call tenon_layer_create_output_cotangent(loss, 1, dvalue)
    call tenon_dtensor_fill_constant(dvalue, 1.0_real64)
    call tenon_optimizer_create(layer, 'sgd', optimizer)
    call tenon_optimizer_set_learning_rate(optimizer, 0.02_real64)
    call tenon_layer_get_parameter(layer, 1, kappa)
    do step = 1, training_steps
      call tenon_layer_apply(layer, x, y)
      call tenon_layer_apply(loss, y, value)
      call tenon_layer_apply_adjoint(loss, dvalue, dy)
      call tenon_layer_apply_adjoint(layer, dy)
      call tenon_dtensor_max_abs(value, error)
      call tenon_optimizer_step(optimizer)
      call tenon_dtensor_max_abs(kappa, learned)
      if (rank == 0 .and. modulo(step*4, training_steps) == 0) print '(a, i2, 3a, f8.6)', &
        'step ', step, ': loss before the step ', scientific(error), ', kappa after it ', learned
    end do
    call tenon_destroy(kappa)
    call tenon_destroy(optimizer)
    call tenon_destroy(dvalue)
    call tenon_destroy(value)
    call tenon_destroy(layout)
    call tenon_destroy(loss)
    call tenon_destroy(dy)
    call tenon_destroy(y)
  end subroutine train
end program own_parts
