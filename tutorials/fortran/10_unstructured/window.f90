! SPDX-License-Identifier: BSD-2-Clause
! A window: four steps of the coarse solver, each with the closure, from a sample of the truth; the loss L of these
! steps, and its gradient:
!
!   q[n+1] = S(q[n]) + dt D N(q[n]),    L = mean over steps, cells and fields of ((q[n] - truth[n]) / loss_unit)^2
!
! Backward in time, from w = dL/dq[4], the closure's adjoint, which also accumulates the gradients of the weights, goes
! beside that of the solver:
!
!   w <- S'(q[n])* w + (dt D N'(q[n]))* w + dL/d(q[n] - truth[n])
module sphere_window
  use sphere_closure
  use sphere_mesh
  use sphere_solver
  use tenon
  implicit none
  private
  public :: window_create, window_forward, window_backward, window_check
  integer, parameter, public :: steps = 4
  integer, parameter :: halvings = 4
  ! The size of the errors of a step, so that losses and gradients are of order 1.
  real(real64), parameter :: loss_unit = 1e-3_real64

  type, public :: window_t
    type(solver_t) :: solver
    real(real64), allocatable :: q(:, :), w(:, :), work(:, :)
    real(real64), allocatable :: stages(:, :, :, :) ! of each step
    real(real64), allocatable :: errors(:, :, :)    ! after each step
  end type window_t

  ! The weights of a network, where they were, and a random direction of each.
  type :: weights_t
    type(tenon_dtensor), allocatable :: now(:), start(:), direction(:)
  end type weights_t
contains
  subroutine window_create(solver, w)
    type(solver_t), intent(in) :: solver
    type(window_t), intent(out) :: w
    w%solver = solver
    call create_field(solver%mesh, w%q)
    call create_field(solver%mesh, w%w)
    call create_field(solver%mesh, w%work)
    allocate (w%stages(fields, solver%mesh%count, stages, steps), source=0.0_real64)
    call create_fields(solver%mesh, steps, w%errors)
  end subroutine window_create

  ! The factor of the sum of squares in the loss.
  real(real64) function loss_factor(m)
    type(mesh_t), intent(in) :: m
    loss_factor = 1/(loss_unit*loss_unit*steps*fields*m%cells)
  end function loss_factor

  ! `truth` are as many fields as there are steps.
  subroutine window_forward(w, closure, start, truth, loss)
    type(window_t), intent(inout), target :: w
    type(closure_t), intent(inout) :: closure
    real(real64), intent(in) :: start(:, :), truth(:, :, :)
    real(real64), intent(out) :: loss
    integer :: n
    loss = 0
    w%q = start
    do n = 1, steps
      call solver_step(w%solver, w%q, w%stages(:, :, :, n))
      call closure_apply(closure, .true., w%stages(:, :, 1, n), w%q) ! the first is q[n]
      w%errors(:, :, n) = w%q - truth(:, :, n)
      loss = loss + loss_factor(w%solver%mesh)*mesh_dot(w%solver%mesh, w%errors(:, :, n), w%errors(:, :, n))
    end do
  end subroutine window_forward

  ! Accumulates the gradients of the weights; w%w <- dL/dstart.
  subroutine window_backward(w, closure)
    type(window_t), intent(inout), target :: w
    type(closure_t), intent(inout) :: closure
    integer :: n
    w%w = 0
    do n = steps, 1, -1
      w%w = w%w + 2*loss_factor(w%solver%mesh)*w%errors(:, :, n)
      w%work = w%w
      call solver_adjoint(w%solver, w%stages(:, :, :, n), w%w)
      call closure_adjoint(closure, w%work, w%w)
    end do
  end subroutine window_backward

  subroutine weights_create(network, p)
    type(tenon_layer), intent(in) :: network
    type(weights_t), intent(out) :: p
    type(tenon_layout) :: layout
    integer :: count, n
    call tenon_layer_get_parameter_count(network, count)
    allocate (p%now(count), p%start(count), p%direction(count))
    do n = 1, count
      call tenon_layer_get_parameter(network, n, p%now(n))
      call tenon_dtensor_get_layout(p%now(n), layout)
      call tenon_dtensor_create(layout, TENON_FLOAT64, p%start(n))
      call tenon_dtensor_create(layout, TENON_FLOAT64, p%direction(n))
      call tenon_dtensor_copy(p%now(n), p%start(n))
      call tenon_dtensor_fill_uniform(p%direction(n), 3, n - 1, -1.0_real64, 1.0_real64)
      call tenon_destroy(layout)
    end do
  end subroutine weights_create

  subroutine weights_destroy(p)
    type(weights_t), intent(inout) :: p
    integer :: n
    do n = 1, size(p%now)
      call tenon_destroy(p%direction(n))
      call tenon_destroy(p%start(n))
      call tenon_destroy(p%now(n))
    end do
  end subroutine weights_destroy

  subroutine weights_move(p, h)
    type(weights_t), intent(in) :: p
    real(real64), intent(in) :: h
    integer :: n
    do n = 1, size(p%now)
      call tenon_dtensor_copy(p%start(n), p%now(n))
      call tenon_dtensor_axpby(h, p%direction(n), 1.0_real64, p%now(n))
    end do
  end subroutine weights_move

  ! Sum of <gradient, direction>.
  real(real64) function weights_slope(network, p) result(slope)
    type(tenon_layer), intent(in) :: network
    type(weights_t), intent(in) :: p
    type(tenon_dtensor) :: gradient
    real(real64) :: product
    integer :: n
    slope = 0
    do n = 1, size(p%now)
      call tenon_layer_get_parameter_gradient(network, n, gradient)
      call tenon_dtensor_pairing(p%direction(n), gradient, product)
      call tenon_destroy(gradient)
      slope = slope + product
    end do
  end function weights_slope

  ! Prints how the remainder of the loss falls in a direction of weights and start. The direction of the start is
  ! smooth, by the ids of cells: the same on any number of processes.
  subroutine window_check(w, closure, start, truth, rank)
    type(window_t), intent(inout) :: w
    type(closure_t), intent(inout) :: closure
    real(real64), intent(in) :: start(:, :), truth(:, :, :)
    integer, intent(in) :: rank
    real(real64) :: e(fields, w%solver%mesh%count), remainders(0:halvings), loss, slope, shifted, h
    type(weights_t) :: weights
    integer :: i, c, n
    call weights_create(closure%network, weights)
    do i = 1, w%solver%mesh%count
      e(:, i) = 0.01_real64*sin(0.1_real64*[((w%solver%mesh%ids(i) - 1)*fields + c, c=0, fields - 1)])
    end do
    call window_forward(w, closure, start, truth, loss)
    call window_backward(w, closure)
    slope = weights_slope(closure%network, weights) + mesh_dot(w%solver%mesh, w%w, e)
    h = 0.02_real64
    do n = 0, halvings
      call weights_move(weights, h)
      call window_forward(w, closure, start + h*e, truth, shifted)
      call tenon_layer_clear_stack(closure%network)
      remainders(n) = abs(shifted - loss - h*slope)
      h = h/2
    end do
    if (rank == 0) print '(a, i0, 2(a, f0.6))', 'loss of ', steps, ' steps with the closure ', loss, &
      ', its slope by the adjoints ', slope
    if (rank == 0) print '(a, *(1x, f4.2))', 'orders of its remainders:', &
      log(remainders(:halvings - 1)/remainders(1:))/log(2.0_real64)
    call weights_move(weights, 0.0_real64)
    call tenon_layer_zero_gradients(closure%network)
    call weights_destroy(weights)
  end subroutine window_check
end module sphere_window
