! SPDX-License-Identifier: BSD-2-Clause
! Checks of the derivatives of solver and window, whose results are printed before training.
module water_check
  use water_window
  implicit none
  private
  public :: check_solver, check_window
  integer, parameter :: mass_steps = 20, halvings = 4, maximum_parameters = 16
  real(real64), parameter :: flow = 1e-2_real64 ! size of a direction of the flow, in units of its velocity

  ! The weights of a network, where they were, and a random direction of each.
  type :: weights_t
    integer :: count
    type(tenon_dtensor), dimension(maximum_parameters) :: now, start, direction
  end type weights_t
contains
  ! The solver alone, at the flow q: mass, <S' e, w> = <e, S'* w>, and the order of |S(q + h e) - S(q) - h S' e| in h,
  ! which is 2 for the right tangent.
  subroutine check_solver(s, q)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), allocatable, target :: e(:, :, :), w(:, :, :)
    real(real64), allocatable :: stepped(:, :, :), tangent(:, :, :), moved(:, :, :), stages(:, :, :, :)
    real(real64) :: remainders(0:halvings), forward, adjoint, h
    integer :: n
    call check_mass(s, q)
    call create_fields(s%grid, 1, 3, stages)
    stepped = q
    call step_saving(s, stepped, stages)
    call random_field(s%grid, 0, flow, e)
    call random_field(s%grid, 1, 1.0_real64, w)
    tangent = e
    call step_tangent(s, stages, tangent)
    forward = dot(s%grid, tangent, w)
    call step_adjoint(s, stages, w)
    adjoint = dot(s%grid, e, w)
    if (s%grid%rank == 0) print '(4a)', 'dot test of the step: <S'' e, w> = ', fixed(forward, 10), &
      ', <e, S''* w> = ', fixed(adjoint, 10)

    do n = 0, halvings
      h = 0.5_real64**n
      moved = q + h*e
      call step(s, moved)
      moved = moved - stepped - h*tangent
      remainders(n) = sqrt(dot(s%grid, moved, moved))
    end do
    if (s%grid%rank == 0) call print_orders('the step', remainders)
  end subroutine check_solver

  subroutine check_mass(s, q)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), allocatable :: moved(:, :, :)
    real(real64) :: change
    integer :: n
    moved = q
    do n = 1, mass_steps
      call step(s, moved)
    end do
    change = abs(mass(s%grid, moved)/mass(s%grid, q) - 1)
    if (s%grid%rank == 0) print '(a, i0, 3a)', 'mass after ', mass_steps, ' steps: relative change ', &
      merge('below', 'above', change < 1e-13_real64), ' 1e-13'
  end subroutine check_mass

  ! A random field, the same on any number of processes.
  subroutine random_field(g, stream, size, q)
    type(grid_t), intent(in) :: g
    integer, intent(in) :: stream
    real(real64), intent(in) :: size
    real(real64), allocatable, target, intent(out) :: q(:, :, :)
    call create_field(g, q)
    call tenon_place(g%owned, q(1:g%nx, 1:g%ny, :), array=q)
    call tenon_dtensor_fill_uniform(g%owned, 2, stream, -size, size)
  end subroutine random_field

  ! Prints the order of remainders, each for half the step of the one before.
  subroutine print_orders(of, remainders)
    character(len=*), intent(in) :: of
    real(real64), intent(in) :: remainders(0:halvings)
    print '(3a, *(1x, f4.2))', 'Taylor orders of ', of, ':', &
      log(remainders(0:halvings - 1)/remainders(1:halvings))/log(2.0_real64)
  end subroutine print_orders

  subroutine weights_create(network, p)
    type(tenon_layer), intent(in) :: network
    type(weights_t), intent(out) :: p
    type(tenon_layout) :: layout
    integer :: n
    call tenon_layer_get_parameter_count(network, p%count)
    do n = 1, p%count
      call tenon_layer_get_parameter(network, n, p%now(n))
      call tenon_dtensor_get_layout(p%now(n), layout)
      call tenon_dtensor_create(layout, TENON_FLOAT64, p%start(n))
      call tenon_dtensor_create(layout, TENON_FLOAT64, p%direction(n))
      call tenon_dtensor_copy(p%now(n), p%start(n))
      ! The first two are those of the scaling, which is not trained. Streams as in the C program.
      if (n > 2) call tenon_dtensor_fill_uniform(p%direction(n), 3, n - 1, -1.0_real64, 1.0_real64)
      call tenon_destroy(layout)
    end do
  end subroutine weights_create

  subroutine weights_destroy(p)
    type(weights_t), intent(inout) :: p
    integer :: n
    do n = 1, p%count
      call tenon_destroy(p%direction(n))
      call tenon_destroy(p%start(n))
      call tenon_destroy(p%now(n))
    end do
  end subroutine weights_destroy

  subroutine weights_move(p, h)
    type(weights_t), intent(inout) :: p
    real(real64), intent(in) :: h
    integer :: n
    do n = 1, p%count
      call tenon_dtensor_copy(p%start(n), p%now(n))
      call tenon_dtensor_axpby(h, p%direction(n), 1.0_real64, p%now(n))
    end do
  end subroutine weights_move

  ! Sum of <gradient, direction>.
  real(real64) function weights_slope(network, p) result(slope)
    type(tenon_layer), intent(in) :: network
    type(weights_t), intent(in) :: p
    type(tenon_dtensor) :: gradient
    real(real64) :: part
    integer :: n
    slope = 0
    do n = 1, p%count
      call tenon_layer_get_parameter_gradient(network, n, gradient)
      call tenon_dtensor_pairing(p%direction(n), gradient, part)
      call tenon_destroy(gradient)
      slope = slope + part
    end do
  end function weights_slope

  ! The loss of a window of the longest kind, in a direction of the weights and of its start: the order of
  ! |L(h) - L(0) - h L'| in h.
  subroutine check_window(w, s, closure, start, truth)
    type(window_t), intent(inout) :: w
    type(solver_t), intent(inout) :: s
    type(closure_t), intent(inout) :: closure
    real(real64), intent(in) :: start(1 - ghost:, 1 - ghost:, :), truth(1 - ghost:, 1 - ghost:, :, :)
    real(real64), allocatable, target :: e(:, :, :)
    real(real64) :: remainders(0:halvings), loss, slope, shifted, h
    type(weights_t) :: weights
    integer :: n
    call weights_create(closure%network, weights)
    call random_field(s%grid, 0, flow, e)
    call window_forward(w, s, closure, longest, start, truth, loss)
    call window_backward(w, s, closure, longest, .true.)
    slope = weights_slope(closure%network, weights) + dot(s%grid, w%w, e)
    do n = 0, halvings
      h = 1e-3_real64*0.5_real64**n
      call weights_move(weights, h)
      call window_forward(w, s, closure, longest, start + h*e, truth, shifted)
      call tenon_layer_clear_stack(closure%network)
      remainders(n) = abs(shifted - loss - h*slope)
    end do
    if (s%grid%rank == 0) then
      print '(a, i0, 4a)', 'loss of ', longest, ' steps with the closure ', fixed(loss, 6), &
        ', its slope by the adjoints ', fixed(slope, 6)
      call print_orders('the loss', remainders)
    end if
    call weights_move(weights, 0.0_real64)
    call tenon_layer_zero_gradients(closure%network)
    call weights_destroy(weights)
  end subroutine check_window
end module water_check
