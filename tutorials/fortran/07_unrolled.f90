! SPDX-License-Identifier: BSD-2-Clause
! 07 Unrolled: the gradient through several steps of a solver with a network in each.
!
! What you learn: one layer is applied in every time step and saves what the adjoints of all steps need
! (tenon_layer_set_stack_depth()). Backward in time, the adjoint of the network alternates with a hand-written
! adjoint of the solver's step. Finite differences check the gradient.
!
! A periodic field u is advected and diffused, r(u) = a u_xx - c u_x by central differences, and a small convolutional
! network N adds the terms that the equation lacks:
!
!   u[n+1] = u[n] + s A H u[n] + s N(u[n]),      L = |u[k] - v|^2 / (2 cells)
!
! H is the halo exchange and A the stencil in local memory. Backwards, from w = dL/du[k]:
!
!   w <- w + s H* A* w + s J* w,      where J* also accumulates the weight gradients
!
! After the last step w is dL/du[0]. In a direction (d of the weights, e of u[0]) the remainder
! | L(h) - L(0) - h L' | then falls as h^2.
!
!   mpiexec -n 4 fortran_07_unrolled
!   mpiexec -n 4 fortran_07_unrolled -cells 100000 -tenon_log_view
program unrolled
  use mpi_f08
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: steps = 8, hidden = 6, parameters = 4, halvings = 5
  real(real64), parameter :: diffusion = 0.2_real64, speed = 0.5_real64, step = 0.25_real64
  type(tenon_layout) :: plain
  type(tenon_linearop) :: halo
  type(tenon_layer) :: network
  type(tenon_dtensor) :: u(0:steps) ! the layer keeps its inputs by reference, so each step has its own
  type(tenon_dtensor) :: wanted, rate, answer, wide, wide_cotangent, w, scaled, part, e, u0
  type(tenon_dtensor) :: weight(parameters), start(parameters), direction(parameters)
  real(real64) :: loss, slope, moved, remainder, before, h
  integer :: cells, rank, i

  call tenon_options_declare('07_unrolled', 'cells', TENON_OPTION_INT, '48', 'cells of the periodic field')
  call tenon_options_own_command_line()
  call tenon_initialize('07 Unrolled: the gradient through steps of a solver'//new_line('a'))
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call tenon_options_get_int('cells', cells, prefix='-')
  call create_solver()
  call create_network()
  call tenon_layer_create_output(network, 1, answer)
  call create_direction()

  call loss_at(0.0_real64, loss)
  call backward()
  call find_slope()
  if (rank == 0) print '(a, i0, a, f10.8, a, f10.8)', 'loss after ', steps, ' steps ', loss, &
    ', its slope by the adjoint ', slope

  call tenon_layer_set_training(network, .false.) ! nothing to keep from here on
  h = 0.1_real64
  do i = 0, halvings
    call loss_at(h, moved)
    remainder = abs(moved - loss - h*slope)
    if (rank == 0 .and. i == 0) print '(a, f8.6, 2a)', 'h ', h, ': remainder ', scientific(remainder)
    if (rank == 0 .and. i > 0) print '(a, f8.6, 3a, f4.2)', 'h ', h, ': remainder ', scientific(remainder), &
      ', order ', log(before/remainder)/log(2.0_real64)
    before = remainder
    h = h/2
  end do
  call destroy()
  call tenon_finalize()
contains
  ! 8.527e-02, as C prints it.
  function scientific(value) result(text)
    real(real64), intent(in) :: value
    character(len=9) :: text
    write (text, '(es9.3e2)') value
    text(6:6) = 'e'
  end function scientific

  subroutine fill_wave(field, phase)
    type(tenon_dtensor), intent(in) :: field
    real(real64), intent(in) :: phase
    real(real64), pointer :: values(:, :, :)
    integer :: x
    call tenon_get_array(field, values)
    do x = lbound(values, 1), ubound(values, 1)
      values(x, 1, 1) = sin(2*3.14159265358979323846_real64*(real(x - 1, real64)/cells + phase))
    end do
    call tenon_restore_array(field, values)
  end subroutine fill_wave

  ! rate <- A H field
  subroutine find_rate(field)
    type(tenon_dtensor), intent(in) :: field
    real(real64), pointer :: v(:, :, :), r(:, :, :)
    integer :: x
    call tenon_linearop_apply(halo, field, wide)
    call tenon_get_array_read(wide, v)
    call tenon_get_array(rate, r)
    do x = lbound(r, 1), ubound(r, 1)
      r(x, 1, 1) = diffusion*(v(x - 1, 1, 1) - 2*v(x, 1, 1) + v(x + 1, 1, 1)) &
        - speed*(v(x + 1, 1, 1) - v(x - 1, 1, 1))/2
    end do
    call tenon_restore_array(rate, r)
    call tenon_restore_array_read(wide, v)
  end subroutine find_rate

  ! part <- H* A* w: each element of w is added where find_rate() reads, with the same factor.
  subroutine find_rate_adjoint()
    real(real64), pointer :: z(:, :, :), c(:, :, :)
    integer :: x
    call tenon_dtensor_fill_constant(wide_cotangent, 0.0_real64)
    call tenon_get_array_read(w, c)
    call tenon_get_array(wide_cotangent, z)
    do x = lbound(c, 1), ubound(c, 1)
      z(x - 1, 1, 1) = z(x - 1, 1, 1) + (diffusion + speed/2)*c(x, 1, 1)
      z(x, 1, 1) = z(x, 1, 1) - 2*diffusion*c(x, 1, 1)
      z(x + 1, 1, 1) = z(x + 1, 1, 1) + (diffusion - speed/2)*c(x, 1, 1)
    end do
    call tenon_restore_array(wide_cotangent, z)
    call tenon_restore_array_read(w, c)
    call tenon_linearop_apply_adjoint(halo, wide_cotangent, part)
  end subroutine find_rate_adjoint

  ! All steps from u(0), and the loss; w <- u(steps) - v.
  subroutine forward(value)
    real(real64), intent(out) :: value
    integer :: n
    do n = 0, steps - 1
      call find_rate(u(n))
      call tenon_layer_apply(network, u(n), answer)
      call tenon_dtensor_copy(u(n), u(n + 1))
      call tenon_dtensor_axpby(step, rate, 1.0_real64, u(n + 1))
      call tenon_dtensor_axpby(step, answer, 1.0_real64, u(n + 1))
    end do
    call tenon_dtensor_copy(u(steps), w)
    call tenon_dtensor_axpby(-1.0_real64, wanted, 1.0_real64, w)
    call tenon_dtensor_norm(w, value)
    value = value*(value/(2*real(cells, real64)))
  end subroutine forward

  ! After forward() in training mode: w <- dL/du(0), and the weights' gradients.
  subroutine backward()
    integer :: n
    call tenon_dtensor_scale(1/real(cells, real64), w)
    do n = steps, 1, -1
      call find_rate_adjoint()
      call tenon_dtensor_axpby(step, w, 0.0_real64, scaled)
      call tenon_dtensor_axpby(step, part, 1.0_real64, w)
      call tenon_layer_apply_adjoint(network, scaled, part)
      call tenon_dtensor_axpby(1.0_real64, part, 1.0_real64, w)
    end do
  end subroutine backward

  subroutine add_convolution(in, out)
    integer, intent(in) :: in, out
    type(tenon_layer) :: layer
    call tenon_layer_create_conv(MPI_COMM_WORLD, in, out, [3], layer)
    call tenon_layer_set_padding(layer, [1])
    call tenon_layer_set_boundary(layer, [TENON_BOUNDARY_PERIODIC])
    call tenon_layer_sequential_add(network, layer)
    call tenon_destroy(layer)
  end subroutine add_convolution

  subroutine create_network()
    type(tenon_layer) :: tanh_layer
    call tenon_layer_create_sequential(MPI_COMM_WORLD, network)
    call add_convolution(1, hidden)
    call tenon_layer_create_type(MPI_COMM_WORLD, 'tanh', tanh_layer)
    call tenon_layer_sequential_add(network, tanh_layer)
    call tenon_destroy(tanh_layer)
    call add_convolution(hidden, 1)
    call tenon_layer_set_data_type(network, TENON_FLOAT64)
    call tenon_layer_set_stack_depth(network, steps) ! adjoints wait for all steps
    call tenon_set_from_options(network)
    call tenon_layer_set_up(network, plain)
    call tenon_layer_initialize(network, 1)
  end subroutine create_network

  subroutine create_field(field)
    type(tenon_dtensor), intent(out) :: field
    call tenon_dtensor_create(plain, TENON_FLOAT64, field)
  end subroutine create_field

  ! A halo of one cell on both sides, and the fields.
  subroutine create_solver()
    type(tenon_partition) :: line
    type(tenon_layout) :: wide_layout, dual
    integer :: processes, n
    call MPI_Comm_size(MPI_COMM_WORLD, processes)
    call tenon_partition_create(MPI_COMM_WORLD, [processes], line)
    call tenon_layout_create_sharded(line, [cells, 1, 1], 'S2', plain) ! x, channel, batch
    call tenon_layout_create_like(plain, wide_layout)
    call tenon_layout_set_halo(wide_layout, 1, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC)
    call tenon_layout_set_up(wide_layout)
    call tenon_layout_get_dual(wide_layout, dual)
    call tenon_linearop_create_halo(plain, wide_layout, TENON_FLOAT64, halo)
    call tenon_dtensor_create(wide_layout, TENON_FLOAT64, wide)
    call tenon_dtensor_create(dual, TENON_FLOAT64, wide_cotangent)
    do n = 0, steps
      call create_field(u(n))
    end do
    call create_field(wanted)
    call create_field(rate)
    call create_field(w)
    call create_field(scaled)
    call create_field(part)
    call create_field(e)
    call create_field(u0)
    call tenon_destroy(dual)
    call tenon_destroy(wide_layout)
    call tenon_destroy(line)
  end subroutine create_solver

  ! The point (weights, u(0)) and a random direction, the same on any number of processes.
  subroutine create_direction()
    type(tenon_layout) :: layout
    integer :: p
    call fill_wave(u0, 0.0_real64)
    call fill_wave(wanted, 0.1_real64)
    call tenon_dtensor_fill_uniform(e, 2, 0, -1.0_real64, 1.0_real64)
    do p = 1, parameters
      call tenon_layer_get_parameter(network, p, weight(p))
      call tenon_dtensor_get_layout(weight(p), layout)
      call tenon_dtensor_create(layout, TENON_FLOAT64, start(p))
      call tenon_dtensor_create(layout, TENON_FLOAT64, direction(p))
      call tenon_dtensor_copy(weight(p), start(p))
      call tenon_dtensor_fill_uniform(direction(p), 2, p, -1.0_real64, 1.0_real64)
      call tenon_destroy(layout)
    end do
  end subroutine create_direction

  ! The loss at a distance from the point.
  subroutine loss_at(distance, value)
    real(real64), intent(in) :: distance
    real(real64), intent(out) :: value
    integer :: p
    call tenon_dtensor_copy(u0, u(0))
    call tenon_dtensor_axpby(distance, e, 1.0_real64, u(0))
    do p = 1, parameters
      call tenon_dtensor_copy(start(p), weight(p))
      call tenon_dtensor_axpby(distance, direction(p), 1.0_real64, weight(p))
    end do
    call forward(value)
  end subroutine loss_at

  ! L' = <dL/du(0), e> + sum of <gradient, d>; a gradient has the dual layout of its weight.
  subroutine find_slope()
    type(tenon_dtensor) :: gradient
    real(real64) :: product
    integer :: p
    call tenon_dtensor_pairing(e, w, slope)
    do p = 1, parameters
      call tenon_layer_get_parameter_gradient(network, p, gradient)
      call tenon_dtensor_pairing(direction(p), gradient, product)
      call tenon_destroy(gradient)
      slope = slope + product
    end do
  end subroutine find_slope

  subroutine destroy()
    integer :: n
    do n = 1, parameters
      call tenon_destroy(weight(n))
      call tenon_destroy(start(n))
      call tenon_destroy(direction(n))
    end do
    do n = 0, steps
      call tenon_destroy(u(n))
    end do
    call tenon_destroy(wanted)
    call tenon_destroy(rate)
    call tenon_destroy(answer)
    call tenon_destroy(wide)
    call tenon_destroy(wide_cotangent)
    call tenon_destroy(w)
    call tenon_destroy(scaled)
    call tenon_destroy(part)
    call tenon_destroy(e)
    call tenon_destroy(u0)
    call tenon_destroy(network)
    call tenon_destroy(halo)
    call tenon_destroy(plain)
  end subroutine destroy
end program unrolled
