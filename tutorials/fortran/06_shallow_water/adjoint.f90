! SPDX-License-Identifier: BSD-2-Clause
! The derivatives of the step, written by hand: each statement of solver.f90, differentiated, in the tangent; the same
! statements in reverse order, transposed, in the adjoint. dq is a tangent of q, w and z are cotangents.
module water_adjoint
  use water_solver
  implicit none
  private
  public :: step_tangent, step_adjoint

  ! What a corner has of q: potential vorticity, depth, mean fluxes.
  type :: corner_t
    real(real64) :: p, depth, u, v
  end type corner_t
contains
  pure type(corner_t) function corner_at(s, q, i, j) result(k)
    type(solver_t), intent(in) :: s
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    integer, intent(in) :: i, j
    k%depth = (q(i, j, 3) + q(i - 1, j, 3) + q(i, j - 1, 3) + q(i - 1, j - 1, 3))/4
    k%p = (coriolis + (q(i, j, 2) - q(i - 1, j, 2) - q(i, j, 1) + q(i, j - 1, 1))/s%grid%spacing)/k%depth
    k%v = (s%fluxes%v(i, j) + s%fluxes%v(i - 1, j))/2
    k%u = (s%fluxes%u(i, j) + s%fluxes%u(i, j - 1))/2
  end function corner_at

  ! changes <- the tangents of the fluxes at q in the direction dq.
  subroutine fluxes_tangent(s, q, dq)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :), dq(1 - ghost:, 1 - ghost:, :)
    type(corner_t) :: k
    real(real64) :: vorticity, depth, p
    integer :: i, j
    associate (nx => s%grid%nx, ny => s%grid%ny, d => s%changes)
      do j = 0, ny + 1
        do i = 1, nx + 1
          d%u(i, j) = (dq(i, j, 1)*(q(i, j, 3) + q(i - 1, j, 3)) + q(i, j, 1)*(dq(i, j, 3) + dq(i - 1, j, 3)))/2
        end do
      end do
      do j = 1, ny + 1
        do i = 0, nx + 1
          d%v(i, j) = (dq(i, j, 2)*(q(i, j, 3) + q(i, j - 1, 3)) + q(i, j, 2)*(dq(i, j, 3) + dq(i, j - 1, 3)))/2
        end do
      end do
      do j = 0, ny
        do i = 0, nx
          d%b(i, j) = gravity*dq(i, j, 3) + (q(i, j, 1)*dq(i, j, 1) + q(i + 1, j, 1)*dq(i + 1, j, 1) + &
            q(i, j, 2)*dq(i, j, 2) + q(i, j + 1, 2)*dq(i, j + 1, 2))/2
        end do
      end do
      do j = 1, ny + 1
        do i = 1, nx + 1
          k = corner_at(s, q, i, j)
          vorticity = (dq(i, j, 2) - dq(i - 1, j, 2) - dq(i, j, 1) + dq(i, j - 1, 1))/s%grid%spacing
          depth = (dq(i, j, 3) + dq(i - 1, j, 3) + dq(i, j - 1, 3) + dq(i - 1, j - 1, 3))/4
          p = (vorticity - k%p*depth)/k%depth
          d%pv(i, j) = p*k%v + k%p*(d%v(i, j) + d%v(i - 1, j))/2
          d%pu(i, j) = p*k%u + k%p*(d%u(i, j) + d%u(i, j - 1))/2
        end do
      end do
    end associate
  end subroutine fluxes_tangent

  ! s%rate <- F'(q) dq. Fills the ghost cells of dq.
  subroutine rate_tangent(s, q, dq)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(inout), target :: dq(1 - ghost:, 1 - ghost:, :)
    call exchange(s%grid, dq)
    call compute_fluxes(s, q)
    call fluxes_tangent(s, q, dq)
    call compute_rate(s%grid, s%changes, dq, s%rate)
  end subroutine rate_tangent

  ! dq <- S'(q) dq, the tangent of the step.
  subroutine step_tangent(s, stages, dq)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in) :: stages(1 - ghost:, 1 - ghost:, :, :)
    real(real64), intent(inout) :: dq(1 - ghost:, 1 - ghost:, :)
    real(real64), allocatable, target :: d(:, :, :, :)
    call create_fields(s%grid, 1, 3, d)
    d(:, :, :, 1) = dq
    call rate_tangent(s, stages(:, :, :, 1), d(:, :, :, 1))
    d(:, :, :, 2) = d(:, :, :, 1) + s%dt*s%rate
    call rate_tangent(s, stages(:, :, :, 2), d(:, :, :, 2))
    d(:, :, :, 3) = 0.75_real64*d(:, :, :, 1) + 0.25_real64*(d(:, :, :, 2) + s%dt*s%rate)
    call rate_tangent(s, stages(:, :, :, 3), d(:, :, :, 3))
    dq = (d(:, :, :, 1) + 2*(d(:, :, :, 3) + s%dt*s%rate))/3
  end subroutine step_tangent

  ! The transpose of compute_rate: from w = dL/drate to s%changes, and to the viscous part of z.
  subroutine rate_transposed(g, a, w, z)
    type(grid_t), intent(in) :: g
    type(fluxes_t), intent(inout) :: a
    real(real64), intent(in) :: w(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(inout) :: z(1 - ghost:, 1 - ghost:, :)
    real(real64) :: dx, viscous
    integer :: i, j, k
    dx = g%spacing
    viscous = viscosity/(dx*dx)
    do j = 1, g%ny
      do i = 1, g%nx
        a%pv(i, j) = a%pv(i, j) + w(i, j, 1)/2
        a%pv(i, j + 1) = a%pv(i, j + 1) + w(i, j, 1)/2
        a%pu(i, j) = a%pu(i, j) - w(i, j, 2)/2
        a%pu(i + 1, j) = a%pu(i + 1, j) - w(i, j, 2)/2
        a%b(i, j) = a%b(i, j) - (w(i, j, 1) + w(i, j, 2))/dx
        a%b(i - 1, j) = a%b(i - 1, j) + w(i, j, 1)/dx
        a%b(i, j - 1) = a%b(i, j - 1) + w(i, j, 2)/dx
        a%u(i, j) = a%u(i, j) + w(i, j, 3)/dx
        a%u(i + 1, j) = a%u(i + 1, j) - w(i, j, 3)/dx
        a%v(i, j) = a%v(i, j) + w(i, j, 3)/dx
        a%v(i, j + 1) = a%v(i, j + 1) - w(i, j, 3)/dx
        do k = 1, 2 ! u and v
          z(i - 1, j, k) = z(i - 1, j, k) + viscous*w(i, j, k)
          z(i + 1, j, k) = z(i + 1, j, k) + viscous*w(i, j, k)
          z(i, j - 1, k) = z(i, j - 1, k) + viscous*w(i, j, k)
          z(i, j + 1, k) = z(i, j + 1, k) + viscous*w(i, j, k)
          z(i, j, k) = z(i, j, k) - 4*viscous*w(i, j, k)
        end do
      end do
    end do
  end subroutine rate_transposed

  ! The transpose of the corners of fluxes_tangent.
  subroutine corners_transposed(s, q, z)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(inout) :: z(1 - ghost:, 1 - ghost:, :)
    type(corner_t) :: k
    real(real64) :: p, vorticity, depth
    integer :: i, j
    associate (a => s%changes)
      do j = 1, s%grid%ny + 1
        do i = 1, s%grid%nx + 1
          k = corner_at(s, q, i, j)
          p = a%pv(i, j)*k%v + a%pu(i, j)*k%u
          vorticity = p/k%depth/s%grid%spacing
          depth = -p*k%p/k%depth/4
          a%v(i - 1:i, j) = a%v(i - 1:i, j) + a%pv(i, j)*k%p/2
          a%u(i, j - 1:j) = a%u(i, j - 1:j) + a%pu(i, j)*k%p/2
          z(i, j, 2) = z(i, j, 2) + vorticity
          z(i - 1, j, 2) = z(i - 1, j, 2) - vorticity
          z(i, j, 1) = z(i, j, 1) - vorticity
          z(i, j - 1, 1) = z(i, j - 1, 1) + vorticity
          z(i - 1:i, j - 1:j, 3) = z(i - 1:i, j - 1:j, 3) + depth
        end do
      end do
    end associate
  end subroutine corners_transposed

  ! The transpose of the rest of fluxes_tangent.
  subroutine fluxes_transposed(g, a, q, z)
    type(grid_t), intent(in) :: g
    type(fluxes_t), intent(in) :: a
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(inout) :: z(1 - ghost:, 1 - ghost:, :)
    integer :: i, j
    do j = 0, g%ny
      do i = 0, g%nx
        z(i, j, 3) = z(i, j, 3) + gravity*a%b(i, j)
        z(i:i + 1, j, 1) = z(i:i + 1, j, 1) + q(i:i + 1, j, 1)*a%b(i, j)/2
        z(i, j:j + 1, 2) = z(i, j:j + 1, 2) + q(i, j:j + 1, 2)*a%b(i, j)/2
      end do
    end do
    do j = 1, g%ny + 1
      do i = 0, g%nx + 1
        z(i, j, 2) = z(i, j, 2) + a%v(i, j)*(q(i, j, 3) + q(i, j - 1, 3))/2
        z(i, j - 1:j, 3) = z(i, j - 1:j, 3) + a%v(i, j)*q(i, j, 2)/2
      end do
    end do
    do j = 0, g%ny + 1
      do i = 1, g%nx + 1
        z(i, j, 1) = z(i, j, 1) + a%u(i, j)*(q(i, j, 3) + q(i - 1, j, 3))/2
        z(i - 1:i, j, 3) = z(i - 1:i, j, 3) + a%u(i, j)*q(i, j, 1)/2
      end do
    end do
  end subroutine fluxes_transposed

  ! s%rate <- F'(q)* w: what reached ghost cells goes back to their owners at the end.
  subroutine rate_adjoint(s, q, w)
    type(solver_t), intent(inout), target :: s
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :), w(1 - ghost:, 1 - ghost:, :)
    call create_fluxes(s%grid, s%changes)
    s%rate = 0
    call compute_fluxes(s, q)
    call rate_transposed(s%grid, s%changes, w, s%rate)
    call corners_transposed(s, q, s%rate)
    call fluxes_transposed(s%grid, s%changes, q, s%rate)
    call exchange_adjoint(s%grid, s%rate)
  end subroutine rate_adjoint

  ! w <- S'(q)* w, from dL/dS(q) to dL/dq: the last stage first.
  subroutine step_adjoint(s, stages, w)
    type(solver_t), intent(inout), target :: s
    real(real64), intent(in) :: stages(1 - ghost:, 1 - ghost:, :, :)
    real(real64), intent(inout) :: w(1 - ghost:, 1 - ghost:, :)
    real(real64), allocatable :: a(:, :, :, :) ! of q1, of q2
    call create_fields(s%grid, 1, 2, a)
    call rate_adjoint(s, stages(:, :, :, 3), w)
    a(:, :, :, 2) = 2*(w + s%dt*s%rate)/3
    call rate_adjoint(s, stages(:, :, :, 2), a(:, :, :, 2))
    a(:, :, :, 1) = 0.25_real64*(a(:, :, :, 2) + s%dt*s%rate)
    call rate_adjoint(s, stages(:, :, :, 1), a(:, :, :, 1))
    w = w/3 + 0.75_real64*a(:, :, :, 2) + a(:, :, :, 1) + s%dt*s%rate
  end subroutine step_adjoint
end module water_adjoint
