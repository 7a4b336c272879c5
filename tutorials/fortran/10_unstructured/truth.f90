! SPDX-License-Identifier: BSD-2-Clause
! The truth: the same solver on a finer mesh, whose flow is averaged over the coarse cells.
module sphere_truth
  use mpi_f08, only: MPI_Comm
  use sphere_mesh
  use sphere_solver
  implicit none
  private
  public :: truth_create, truth_destroy, truth_start, truth_step, truth_sample
  integer, parameter :: hills = 4
  real(real64), parameter :: pi = 3.14159265358979323846_real64
  real(real64), parameter :: current = 0.1_real64 ! speed at the equator
  real(real64), parameter :: balance = 0.205_real64 ! difference of depth that balances the current, see truth_start
  real(real64), parameter :: height = 0.08_real64, width = 0.3_real64 ! of the hills

  type, public :: truth_t
    type(mesh_t) :: coarse
    integer :: refinement ! levels above the coarse one
    type(mesh_t) :: mesh
    type(solver_t) :: solver
    real(real64), allocatable :: q(:, :) ! q(1, i): depth of cell i; q(2:4, i): its momentum, tangent to the sphere
  end type truth_t
contains
  ! `dt` is the time step of the coarse mesh.
  subroutine truth_create(coarse, owner, refinement, dt, t)
    type(mesh_t), intent(in) :: coarse
    integer, intent(in) :: owner(:), refinement
    real(real64), intent(in) :: dt
    type(truth_t), intent(out) :: t
    t%coarse = coarse
    t%refinement = refinement
    call mesh_create(coarse%comm, coarse%level + refinement, coarse%level, owner, t%mesh)
    call solver_create(t%mesh, dt/2**refinement, t%solver)
    call create_field(t%mesh, t%q)
  end subroutine truth_create

  subroutine truth_destroy(t)
    type(truth_t), intent(inout) :: t
    call mesh_destroy(t%mesh)
  end subroutine truth_destroy

  ! Places of hills: multiples of the golden ratio and of another irrational number fill the sphere evenly.
  function place_of_hill(number) result(place)
    integer, intent(in) :: number
    real(real64) :: place(3), z, longitude
    z = 2*mod(0.6180339887498949_real64*number + 0.3_real64, 1.0_real64) - 1
    longitude = 2*pi*mod(0.7548776662466927_real64*number, 1.0_real64)
    place = [sqrt(1 - z*z)*cos(longitude), sqrt(1 - z*z)*sin(longitude), z]
  end function place_of_hill

  ! A current around the axis, and hills and hollows of water in turn, in places that depend on `number`. The current is
  ! u = current (axis x r), and h = 1 + balance (1/3 - r(3)^2) balances it, as in the second test of Williamson et al.
  ! (1992).
  subroutine truth_start(t, number)
    type(truth_t), intent(inout) :: t
    integer, intent(in) :: number
    real(real64) :: place(3, hills), depth
    integer :: i, k
    do k = 1, hills
      place(:, k) = place_of_hill(hills*number + k - 1)
    end do
    do i = 1, t%mesh%owned
      associate (r => t%mesh%up(:, i))
        depth = 1 + balance*(1.0_real64/3 - r(3)*r(3))
        t%q(2:, i) = depth*current*[-r(2), r(1), 0.0_real64]
        do k = 1, hills
          depth = depth + merge(height, -height, mod(k, 2) == 1)*exp(-sum((r - place(:, k))**2)/(2*width*width))
        end do
        t%q(1, i) = depth
      end associate
    end do
  end subroutine truth_start

  ! A time step of the coarse mesh.
  subroutine truth_step(t)
    type(truth_t), intent(inout) :: t
    integer :: n
    do n = 1, 2**t%refinement
      call solver_step(t%solver, t%q, t%solver%stages)
    end do
  end subroutine truth_step

  ! q <- the flow averaged over the coarse cells.
  subroutine truth_sample(t, q)
    type(truth_t), intent(in) :: t
    real(real64), intent(inout) :: q(:, :)
    integer :: children, i, n
    children = 4**t%refinement
    do i = 1, t%coarse%owned
      q(:, i) = 0
      do n = (i - 1)*children + 1, i*children ! the cells within, in the same order
        q(:, i) = q(:, i) + t%mesh%areas(n)*t%q(:, n)
      end do
      q(:, i) = q(:, i)/sum(t%mesh%areas((i - 1)*children + 1:i*children))
      q(2:, i) = project(t%coarse%up(:, i), q(2:, i)) ! without the component normal to the sphere
    end do
  end subroutine truth_sample
end module sphere_truth
