! SPDX-License-Identifier: BSD-2-Clause
! A window: several steps of the coarse solver, each with the closure, from a sample of the truth; the loss L of these
! steps, and its gradient:
!
!   q[n+1] = S(q[n]) + dt N(q[n]),      L = mean over steps, cells and fields of ((q[n] - truth[n]) / loss_unit)^2
!
! Backward in time, from w = dL/dq[K], the closure's adjoint (which also accumulates the gradients of the weights)
! alternates with that of the solver:
!
!   w <- S'(q[n])* w + (dt N'(q[n]))* w + dL/d(q[n] - truth[n])
module water_window
  use water_adjoint
  use water_closure
  use water_solver
  implicit none
  integer, parameter :: longest = 8 ! steps at most
  ! The size of the errors of a step, so that losses and gradients are of order 1.
  real(real64), parameter, private :: loss_unit = 1e-3_real64

  type :: window_t
    real(real64), allocatable :: q(:, :, :), w(:, :, :), change(:, :, :)
    real(real64), allocatable :: stages(:, :, :, :) ! 3 of each step
    real(real64), allocatable :: errors(:, :, :, :) ! after each step
  end type window_t
contains
  subroutine window_create(g, w)
    type(grid_t), intent(in) :: g
    type(window_t), intent(out) :: w
    call create_field(g, w%q)
    call create_field(g, w%w)
    call create_field(g, w%change)
    call create_fields(g, 1, 3*longest, w%stages)
    call create_fields(g, 1, longest, w%errors)
  end subroutine window_create

  ! The factor of the sum of squares in the loss.
  real(real64) function loss_factor(g, steps)
    type(grid_t), intent(in) :: g
    integer, intent(in) :: steps
    loss_factor = 1/(loss_unit*loss_unit*steps*fields*real(g%cells, real64)*g%cells)
  end function loss_factor

  ! Runs steps from the field `start`; `truth` are as many fields.
  subroutine window_forward(w, s, closure, steps, start, truth, loss)
    type(window_t), intent(inout), target :: w
    type(solver_t), intent(inout) :: s
    type(closure_t), intent(inout) :: closure
    integer, intent(in) :: steps
    real(real64), intent(in) :: start(1 - ghost:, 1 - ghost:, :), truth(1 - ghost:, 1 - ghost:, :, :)
    real(real64), intent(out) :: loss
    integer :: n
    loss = 0
    w%q = start
    do n = 1, steps
      call closure_apply(closure, .true., w%q, w%change)
      call step_saving(s, w%q, w%stages(:, :, :, 3*n - 2:3*n))
      w%q = w%q + w%change
      w%errors(:, :, :, n) = w%q - truth(:, :, :, n)
      loss = loss + loss_factor(s%grid, steps)*dot(s%grid, w%errors(:, :, :, n), w%errors(:, :, :, n))
    end do
  end subroutine window_forward

  ! Accumulates the gradients of the weights; w%w <- dL/dstart if `to_start`.
  subroutine window_backward(w, s, closure, steps, to_start)
    type(window_t), intent(inout), target :: w
    type(solver_t), intent(inout) :: s
    type(closure_t), intent(inout) :: closure
    integer, intent(in) :: steps
    logical, intent(in) :: to_start
    integer :: n
    w%w = 0
    do n = steps, 1, -1
      w%w = w%w + 2*loss_factor(s%grid, steps)*w%errors(:, :, :, n)
      call closure_adjoint(closure, w%w, w%change)
      if (n > 1 .or. to_start) call step_adjoint(s, w%stages(:, :, :, 3*n - 2:3*n), w%w)
      w%w = w%w + w%change
    end do
  end subroutine window_backward
end module water_window
