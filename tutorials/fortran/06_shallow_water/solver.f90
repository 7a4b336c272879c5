! SPDX-License-Identifier: BSD-2-Clause
! The rotating shallow-water equations in a doubly periodic square,
!
!   du/dt =  P V - dB/dx + nu Laplacian(u),    P = (f + dv/dx - du/dy) / h   potential vorticity
!   dv/dt = -P U - dB/dy + nu Laplacian(v),    B = g h + (u^2 + v^2) / 2     Bernoulli function
!   dh/dt = -dU/dx - dV/dy,                    U = u h, V = v h              mass fluxes
!
! on the C grid of grid.f90 by the energy-conserving scheme of Sadourny (1975), and in time by the Runge-Kutta method
! of third order of Shu and Osher (1988):
!
!   q1 = q + dt F(q),   q2 = 3/4 q + 1/4 (q1 + dt F(q1)),   S(q) = 1/3 q + 2/3 (q2 + dt F(q2)).
!
! Mass is conserved to rounding. Units: depth at rest H = 1, g = 1, f = 1, so that velocities are fractions of the wave
! speed, lengths multiples of the radius of deformation, times of 1/f.
module water_solver
  use water_grid
  implicit none
  real(real64), parameter :: coriolis = 1, gravity = 1, depth_at_rest = 1, viscosity = 2e-4_real64

  ! Fluxes of cell (i, j): u and v on its left and lower sides; b at its centre; pv (P V) and pu (P U) at its lower
  ! left corner.
  type :: fluxes_t
    real(real64), allocatable, dimension(:, :) :: u, v, b, pv, pu
  end type fluxes_t

  type :: solver_t
    type(grid_t) :: grid
    real(real64) :: dt
    real(real64), allocatable :: stages(:, :, :, :), rate(:, :, :)
    type(fluxes_t) :: fluxes
    ! For the derivatives (adjoint.f90), which the first of them makes.
    logical :: has_derivatives = .false.
    type(tenon_layer) :: equations
    type(tenon_linearop) :: jacobian
    type(tenon_dtensor) :: point, result ! placed on the field of the call
  end type solver_t
contains
  subroutine solver_create(grid, dt, s)
    type(grid_t), intent(in) :: grid
    real(real64), intent(in) :: dt
    type(solver_t), intent(out) :: s
    s%grid = grid
    s%dt = dt
    call create_fields(grid, 1, 3, s%stages)
    call create_field(grid, s%rate)
    call create_fluxes(grid, s%fluxes)
    call tenon_dtensor_create(grid%plain, TENON_FLOAT64, s%point)
    call tenon_dtensor_create(grid%plain, TENON_FLOAT64, s%result)
  end subroutine solver_create

  subroutine solver_destroy(s)
    type(solver_t), intent(inout) :: s
    call tenon_destroy(s%result)
    call tenon_destroy(s%point)
    call tenon_destroy(s%jacobian)
    call tenon_destroy(s%equations)
  end subroutine solver_destroy

  subroutine create_fluxes(g, f)
    type(grid_t), intent(in) :: g
    type(fluxes_t), intent(out) :: f
    allocate (f%u(0:g%nx + 1, 0:g%ny + 1))
    f%u = 0
    f%v = f%u
    f%b = f%u
    f%pv = f%u
    f%pu = f%u
  end subroutine create_fluxes

  ! fluxes <- those of q, whose ghost cells are filled; at ghost cells where a neighbour's are needed.
  subroutine compute_fluxes(s, q)
    type(solver_t), intent(inout) :: s
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    real(real64) :: vorticity, depth, p
    integer :: i, j
    associate (nx => s%grid%nx, ny => s%grid%ny, f => s%fluxes)
      do j = 0, ny + 1
        do i = 1, nx + 1
          f%u(i, j) = q(i, j, 1)*(q(i, j, 3) + q(i - 1, j, 3))/2
        end do
      end do
      do j = 1, ny + 1
        do i = 0, nx + 1
          f%v(i, j) = q(i, j, 2)*(q(i, j, 3) + q(i, j - 1, 3))/2
        end do
      end do
      do j = 0, ny
        do i = 0, nx
          f%b(i, j) = gravity*q(i, j, 3) + &
            (q(i, j, 1)**2 + q(i + 1, j, 1)**2 + q(i, j, 2)**2 + q(i, j + 1, 2)**2)/4
        end do
      end do
      do j = 1, ny + 1
        do i = 1, nx + 1
          vorticity = (q(i, j, 2) - q(i - 1, j, 2) - q(i, j, 1) + q(i, j - 1, 1))/s%grid%spacing
          depth = (q(i, j, 3) + q(i - 1, j, 3) + q(i, j - 1, 3) + q(i - 1, j - 1, 3))/4
          p = (coriolis + vorticity)/depth
          f%pv(i, j) = p*(f%v(i, j) + f%v(i - 1, j))/2
          f%pu(i, j) = p*(f%u(i, j) + f%u(i, j - 1))/2
        end do
      end do
    end associate
  end subroutine compute_fluxes

  ! rate <- the divergences of fluxes f, and the viscous terms of q.
  subroutine compute_rate(g, f, q, rate)
    type(grid_t), intent(in) :: g
    type(fluxes_t), intent(in) :: f
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(inout) :: rate(1 - ghost:, 1 - ghost:, :)
    real(real64) :: dx, viscous
    integer :: i, j
    dx = g%spacing
    viscous = viscosity/(dx*dx)
    do j = 1, g%ny
      do i = 1, g%nx
        rate(i, j, 1) = (f%pv(i, j) + f%pv(i, j + 1))/2 - (f%b(i, j) - f%b(i - 1, j))/dx + viscous*laplacian(q, i, j, 1)
        rate(i, j, 2) = -(f%pu(i, j) + f%pu(i + 1, j))/2 - (f%b(i, j) - f%b(i, j - 1))/dx + viscous*laplacian(q, i, j, 2)
        rate(i, j, 3) = -(f%u(i + 1, j) - f%u(i, j) + f%v(i, j + 1) - f%v(i, j))/dx
      end do
    end do
  end subroutine compute_rate

  pure real(real64) function laplacian(q, i, j, k)
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    integer, intent(in) :: i, j, k
    laplacian = q(i - 1, j, k) + q(i + 1, j, k) + q(i, j - 1, k) + q(i, j + 1, k) - 4*q(i, j, k)
  end function laplacian

  ! s%rate <- F(q). Fills the ghost cells of q.
  subroutine right_hand_side(s, q)
    type(solver_t), intent(inout) :: s
    real(real64), intent(inout), target :: q(1 - ghost:, 1 - ghost:, :)
    call exchange(s%grid, q)
    call compute_fluxes(s, q)
    call compute_rate(s%grid, s%fluxes, q, s%rate)
  end subroutine right_hand_side

  ! q <- S(q). The arguments of F, with their ghost cells, stay in `stages`, which the derivatives of the step need.
  subroutine step_saving(s, q, stages)
    type(solver_t), intent(inout) :: s
    real(real64), intent(inout) :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), intent(inout), target :: stages(1 - ghost:, 1 - ghost:, :, :)
    stages(:, :, :, 1) = q
    call right_hand_side(s, stages(:, :, :, 1))
    stages(:, :, :, 2) = stages(:, :, :, 1) + s%dt*s%rate
    call right_hand_side(s, stages(:, :, :, 2))
    stages(:, :, :, 3) = 0.75_real64*stages(:, :, :, 1) + 0.25_real64*(stages(:, :, :, 2) + s%dt*s%rate)
    call right_hand_side(s, stages(:, :, :, 3))
    q = (stages(:, :, :, 1) + 2*(stages(:, :, :, 3) + s%dt*s%rate))/3
  end subroutine step_saving

  ! q <- S(q).
  subroutine step(s, q)
    type(solver_t), intent(inout) :: s
    real(real64), intent(inout) :: q(1 - ghost:, 1 - ghost:, :)
    real(real64), allocatable, target :: stages(:, :, :, :)
    call move_alloc(s%stages, stages)
    call step_saving(s, q, stages)
    call move_alloc(stages, s%stages)
  end subroutine step
end module water_solver
