! SPDX-License-Identifier: BSD-2-Clause
! A window: eight steps of the solver, each with the closure, from a sample of the truth; the loss L of these steps, and
! its gradient:
!
!   z[n+1] = S(z[n]) + dt N(z[n]),    L = mean over steps of |z[n] - truth[n]|^2 / loss_unit^2
!
! Backward in time, from w = dL/dz[8], the closure's adjoint, which also accumulates the gradients of the weights, is
! added to that of the solver:
!
!   w <- S'(z[n])* w + (dt N'(z[n]))* w + dL/d(z[n] - truth[n])
module spectral_window
  use mpi_f08
  use spectral_closure
  use spectral_solver
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: window_create, window_destroy, window_forward, window_backward, window_check, fixed
  integer, parameter, public :: steps = 8
  integer, parameter :: halvings = 4
  ! The size of the errors of a step, so that losses and gradients are of order 1.
  real(real64), parameter :: loss_unit = 0.1_real64
  real(real64), parameter :: loss_factor = 1/(loss_unit*loss_unit*steps)

  type, public :: window_t
    type(tenon_dtensor) :: z, w, work
    type(tenon_dtensor) :: stages(stage_count, steps), errors(steps)
  end type window_t
contains
  subroutine window_create(s, w)
    type(solver_t), intent(in) :: s
    type(window_t), intent(out) :: w
    integer :: n, i
    call solver_create_field(s, w%z)
    call solver_create_field(s, w%w)
    call solver_create_field(s, w%work)
    do n = 1, steps
      call solver_create_field(s, w%errors(n))
      do i = 1, stage_count
        call solver_create_field(s, w%stages(i, n))
      end do
    end do
  end subroutine window_create

  subroutine window_destroy(w)
    type(window_t), intent(inout) :: w
    integer :: n, i
    do n = 1, steps
      do i = 1, stage_count
        call tenon_destroy(w%stages(i, n))
      end do
      call tenon_destroy(w%errors(n))
    end do
    call tenon_destroy(w%work)
    call tenon_destroy(w%w)
    call tenon_destroy(w%z)
  end subroutine window_destroy

  ! `truth` are the start and the truth after each step.
  subroutine window_forward(w, s, closure, truth, loss)
    type(window_t), intent(inout) :: w
    type(solver_t), intent(inout) :: s
    type(closure_t), intent(inout) :: closure
    type(tenon_dtensor), intent(in) :: truth(0:)
    real(real64), intent(out) :: loss
    real(real64) :: norm
    integer :: n
    loss = 0
    call tenon_dtensor_copy(truth(0), w%z)
    do n = 1, steps
      call solver_step(s, w%z, w%stages(:, n))
      call closure_apply(closure, .true., w%stages(1, n), w%z) ! the first is z[n]
      call tenon_dtensor_copy(w%z, w%errors(n))
      call tenon_dtensor_axpby(-1.0_real64, truth(n), 1.0_real64, w%errors(n))
      call tenon_dtensor_norm(w%errors(n), norm)
      loss = loss + loss_factor*norm*norm
    end do
  end subroutine window_forward

  ! Accumulates the gradients of the weights; w%w <- dL/dtruth(0).
  subroutine window_backward(w, s, closure)
    type(window_t), intent(inout) :: w
    type(solver_t), intent(inout) :: s
    type(closure_t), intent(inout) :: closure
    integer :: n
    call tenon_dtensor_fill_constant(w%w, 0.0_real64)
    do n = steps, 1, -1
      call tenon_dtensor_axpby(2*loss_factor, w%errors(n), 1.0_real64, w%w)
      call tenon_dtensor_copy(w%w, w%work)
      call solver_adjoint(s, w%stages(:, n), w%w)
      call closure_adjoint(closure, w%work, w%w)
    end do
  end subroutine window_backward

  ! Prints how the remainder of the linear approximation of the loss falls in a direction of truth(0).
  subroutine window_check(w, s, closure, truth, direction, rank)
    type(window_t), intent(inout) :: w
    type(solver_t), intent(inout) :: s
    type(closure_t), intent(inout) :: closure
    type(tenon_dtensor), intent(in) :: truth(0:), direction
    integer, intent(in) :: rank
    type(tenon_dtensor) :: moved(0:steps)
    real(real64) :: remainders(0:halvings), loss, slope, shifted, h
    integer :: n
    moved(1:) = truth(1:)
    call solver_create_field(s, moved(0))
    call window_forward(w, s, closure, truth, loss)
    call window_backward(w, s, closure)
    call tenon_dtensor_pairing(direction, w%w, slope)
    h = 0.02_real64
    do n = 0, halvings
      call tenon_dtensor_copy(truth(0), moved(0))
      call tenon_dtensor_axpby(h, direction, 1.0_real64, moved(0))
      call window_forward(w, s, closure, moved, shifted)
      call tenon_layer_clear_stack(closure%network)
      remainders(n) = abs(shifted - loss - h*slope)
      h = h/2
    end do
    if (rank == 0) print '(a, i0, 4a)', 'loss of ', steps, ' steps with the closure ', fixed(loss, 5), &
      ', its slope by the adjoints ', fixed(slope, 4)
    if (rank == 0) print '(a, *(1x, f4.2))', 'orders of its remainders:', &
      log(remainders(:halvings - 1)/remainders(1:))/log(2.0_real64)
    call tenon_layer_zero_gradients(closure%network)
    call tenon_destroy(moved(0))
  end subroutine window_check

  ! 0.9144, as C prints it.
  function fixed(value, digits) result(text)
    real(real64), intent(in) :: value
    integer, intent(in) :: digits
    character(len=:), allocatable :: text
    character(len=30) :: wide
    character(len=8) :: form
    write (form, '(a, i0, a)') '(f30.', digits, ')'
    write (wide, form) value
    text = trim(adjustl(wide))
  end function fixed
end module spectral_window
