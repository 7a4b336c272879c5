! SPDX-License-Identifier: BSD-2-Clause
! The truth: the same solver on a finer grid with shorter steps, averaged to the coarse grid.
!
! A coarse cell has refinement**2 fine cells on the same process. Its h is their mean, its u and v are the means over
! the fine sides on its left and lower side, so that the coarse field has the same mass.
module water_truth
  use water_solver
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  private
  public :: truth_create, truth_destroy, truth_start, truth_step, truth_sample, time_step
  real(real64), parameter :: pi = 3.14159265358979323846_real64
  real(real64), parameter :: rms_velocity = 0.25_real64
  ! Waves of the random flow: wave numbers from 2 to 6 around the domain.
  integer, parameter :: lowest = 2, highest = 6, maximum_waves = 128
  real(real64), parameter, public :: domain_length = 2*pi*8/3 ! in radii of deformation

  type, public :: truth_t
    type(solver_t) :: solver ! on the fine grid
    integer :: refinement
    real(real64), allocatable :: q(:, :, :)
  end type truth_t

  type :: wave_t
    real(real64) :: kx, ky, amplitude, phase
  end type wave_t
contains
  ! The time step of a grid: gravity waves cross about a quarter of a cell in one.
  real(real64) function time_step(g)
    type(grid_t), intent(in) :: g
    time_step = 0.25_real64*g%spacing/sqrt(gravity*depth_at_rest)
  end function time_step

  subroutine truth_create(coarse, refinement, t)
    type(grid_t), intent(in) :: coarse
    integer, intent(in) :: refinement
    type(truth_t), intent(out) :: t
    type(grid_t) :: grid
    t%refinement = refinement
    call grid_create(coarse%comm, coarse%cells, refinement, domain_length, grid)
    call solver_create(grid, time_step(grid), t%solver)
    call create_field(grid, t%q)
  end subroutine truth_create

  subroutine truth_destroy(t)
    type(truth_t), intent(inout) :: t
    call solver_destroy(t%solver)
    call grid_destroy(t%solver%grid)
  end subroutine truth_destroy

  ! The next number in (0, 1) of Park and Miller (1988).
  real(real64) function random(state)
    integer(int64), intent(inout) :: state
    state = modulo(state*16807, 2147483647_int64)
    random = real(state, real64)/2147483647
  end function random

  ! A random stream function, scaled so that its flow has the velocity rms_velocity: a wave of amplitude a and wave
  ! number k has the mean square velocity (a k)^2 / 2.
  subroutine draw_waves(seed, waves, count)
    integer, intent(in) :: seed
    type(wave_t), intent(out) :: waves(maximum_waves)
    integer, intent(out) :: count
    integer(int64) :: state
    real(real64) :: number, square
    integer :: k, l
    state = modulo(1000003_int64*(seed + 1), 2147483647_int64)
    count = 0
    square = 0
    do k = 1, highest
      do l = -highest, highest
        number = sqrt(real(k*k + l*l, real64))
        if (number < lowest .or. number > highest) cycle
        count = count + 1
        associate (w => waves(count))
          w%kx = 2*pi*k/domain_length
          w%ky = 2*pi*l/domain_length
          w%amplitude = (2*random(state) - 1)/number**1.5_real64
          w%phase = 2*pi*random(state)
          square = square + w%amplitude*w%amplitude*(w%kx*w%kx + w%ky*w%ky)/2
        end associate
      end do
    end do
    waves(1:count)%amplitude = waves(1:count)%amplitude*(rms_velocity/sqrt(square))
  end subroutine draw_waves

  pure real(real64) function stream_function(waves, y, x)
    type(wave_t), intent(in) :: waves(:)
    real(real64), intent(in) :: y, x
    stream_function = sum(waves%amplitude*cos(waves%kx*x + waves%ky*y + waves%phase))
  end function stream_function

  ! u = -dpsi/dy and v = dpsi/dx from psi at the corners of the cells; h = H + f psi / g at the centres balances the
  ! Coriolis force.
  subroutine initial_state(g, seed, q)
    type(grid_t), intent(in) :: g
    integer, intent(in) :: seed
    real(real64), intent(inout) :: q(1 - ghost:, 1 - ghost:, :)
    type(wave_t) :: waves(maximum_waves)
    real(real64) :: dx, x, y, corner
    integer :: count, i, j
    call draw_waves(seed, waves, count)
    dx = g%spacing
    do j = 1, g%ny
      do i = 1, g%nx
        y = (g%y0 + j - 2)*dx
        x = (g%x0 + i - 2)*dx
        corner = stream_function(waves(1:count), y, x)
        q(i, j, 1) = -(stream_function(waves(1:count), y + dx, x) - corner)/dx
        q(i, j, 2) = (stream_function(waves(1:count), y, x + dx) - corner)/dx
        q(i, j, 3) = depth_at_rest + coriolis/gravity*stream_function(waves(1:count), y + dx/2, x + dx/2)
      end do
    end do
  end subroutine initial_state

  ! Starts from a random flow in geostrophic balance and runs it for `spinup` coarse steps.
  subroutine truth_start(t, seed, spinup)
    type(truth_t), intent(inout) :: t
    integer, intent(in) :: seed, spinup
    integer :: n
    call initial_state(t%solver%grid, seed, t%q)
    do n = 1, spinup
      call truth_step(t)
    end do
  end subroutine truth_start

  ! Runs one coarse step: `refinement` fine ones.
  subroutine truth_step(t)
    type(truth_t), intent(inout) :: t
    integer :: k
    do k = 1, t%refinement
      call step(t%solver, t%q)
    end do
  end subroutine truth_step

  ! sample <- the flow on the coarse grid.
  subroutine truth_sample(t, g, sample)
    type(truth_t), intent(in) :: t
    type(grid_t), intent(in) :: g
    real(real64), intent(inout) :: sample(1 - ghost:, 1 - ghost:, :)
    integer :: i, j, a, b, r
    r = t%refinement
    do j = 1, g%ny
      do i = 1, g%nx
        a = r*(i - 1) + 1 ! the first fine cell
        b = r*(j - 1) + 1
        sample(i, j, 1) = sum(t%q(a, b:b + r - 1, 1))/r
        sample(i, j, 2) = sum(t%q(a:a + r - 1, b, 2))/r
        sample(i, j, 3) = sum(t%q(a:a + r - 1, b:b + r - 1, 3))/(r*r)
      end do
    end do
  end subroutine truth_sample
end module water_truth
