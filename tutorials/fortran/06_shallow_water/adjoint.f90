! SPDX-License-Identifier: BSD-2-Clause
! The derivatives of the solver's step (solver.f90). The Jacobian F'(q) of the right-hand side comes from the network
! of equations.f90; its point q is moved from stage to stage. The lines of the Runge-Kutta method are differentiated
! by hand: in their order for the tangent, and in reverse order for the adjoint. dq is a tangent of q, w a cotangent.
module water_adjoint
  use water_equations
  use water_solver
  implicit none
  private
  public :: step_tangent, step_adjoint
contains
  ! s%jacobian <- F'(q).
  subroutine move_to(s, q)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in), target :: q(1 - ghost:, 1 - ghost:, :)
    call tenon_place_read(s%point, q(1:s%grid%nx, 1:s%grid%ny, :), array=q)
    if (s%has_derivatives) then
      call tenon_linearop_jacobian_set_point(s%jacobian, s%point)
    else
      call equations_create(s%grid, s%equations)
      call tenon_linearop_create_jacobian(s%equations, s%point, s%jacobian)
      s%has_derivatives = .true.
    end if
  end subroutine move_to

  ! s%rate <- F'(q) dq, or, of the adjoint, F'(q)* dq.
  subroutine derive(s, q, dq, is_adjoint)
    type(solver_t), intent(inout), target :: s
    real(real64), intent(in), target :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(inout), target :: dq(1 - ghost:, 1 - ghost:, :)
    logical, intent(in) :: is_adjoint
    call move_to(s, q)
    call tenon_place(s%point, dq(1:s%grid%nx, 1:s%grid%ny, :), array=dq)
    call tenon_place(s%result, s%rate(1:s%grid%nx, 1:s%grid%ny, :), array=s%rate)
    if (is_adjoint) then
      call tenon_linearop_apply_adjoint(s%jacobian, s%point, s%result)
    else
      call tenon_linearop_apply(s%jacobian, s%point, s%result)
    end if
  end subroutine derive

  ! dq <- S'(q) dq, the tangent of the step.
  subroutine step_tangent(s, stages, dq)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in), target :: stages(1 - ghost:, 1 - ghost:, :, :)
    real(real64), intent(inout) :: dq(1 - ghost:, 1 - ghost:, :)
    real(real64), allocatable, target :: d(:, :, :, :)
    call create_fields(s%grid, 1, 3, d)
    d(:, :, :, 1) = dq
    call derive(s, stages(:, :, :, 1), d(:, :, :, 1), .false.)
    d(:, :, :, 2) = d(:, :, :, 1) + s%dt*s%rate
    call derive(s, stages(:, :, :, 2), d(:, :, :, 2), .false.)
    d(:, :, :, 3) = 0.75_real64*d(:, :, :, 1) + 0.25_real64*(d(:, :, :, 2) + s%dt*s%rate)
    call derive(s, stages(:, :, :, 3), d(:, :, :, 3), .false.)
    dq = (d(:, :, :, 1) + 2*(d(:, :, :, 3) + s%dt*s%rate))/3
  end subroutine step_tangent

  ! w <- S'(q)* w, from dL/dS(q) to dL/dq: the last stage first.
  subroutine step_adjoint(s, stages, w)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in), target :: stages(1 - ghost:, 1 - ghost:, :, :)
    real(real64), intent(inout), target :: w(1 - ghost:, 1 - ghost:, :)
    real(real64), allocatable, target :: a(:, :, :, :) ! of q1, of q2
    call create_fields(s%grid, 1, 2, a)
    call derive(s, stages(:, :, :, 3), w, .true.)
    a(:, :, :, 2) = 2*(w + s%dt*s%rate)/3
    call derive(s, stages(:, :, :, 2), a(:, :, :, 2), .true.)
    a(:, :, :, 1) = 0.25_real64*(a(:, :, :, 2) + s%dt*s%rate)
    call derive(s, stages(:, :, :, 1), a(:, :, :, 1), .true.)
    w = w/3 + 0.75_real64*a(:, :, :, 2) + a(:, :, :, 1) + s%dt*s%rate
  end subroutine step_adjoint
end module water_adjoint
