! SPDX-License-Identifier: BSD-2-Clause
! A doubly periodic square grid, distributed over the processes, and its fields.
!
! A field is q(x, y, component), with components u, v, h and ghost cells around the cells of this process:
! q(1 - ghost:nx + ghost, 1 - ghost:ny + ghost, 3). On the staggered grid (Arakawa C) cell (i, j) holds h at its
! centre, u on its left side, v on its lower side.
module water_grid
  use mpi_f08
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: ghost = 2, fields = 3

  type :: grid_t
    type(MPI_Comm) :: comm
    integer :: rank
    integer :: cells           ! in each direction
    real(real64) :: spacing    ! length of a cell's side
    integer :: x0, y0          ! first column and row of this process
    integer :: nx, ny          ! its numbers of columns and rows
    type(tenon_layout) :: plain ! (cells, cells, 3, 1), this decomposition
    type(tenon_linearop) :: halo
    type(tenon_dtensor) :: owned, ghosted ! placed on the field of the call
  end type grid_t
contains
  ! Creates a grid of cells*refinement cells in each direction. On each process it covers the same part of the
  ! domain, of the given length, for every refinement.
  subroutine grid_create(comm, cells, refinement, length, g)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: cells, refinement
    real(real64), intent(in) :: length
    type(grid_t), intent(out) :: g
    g%comm = comm
    g%cells = cells*refinement
    g%spacing = length/g%cells
    call decompose(cells, refinement, g)
    call tenon_layout_create_from_boxes(comm, [g%x0, g%y0, 1, 1], [g%x0 + g%nx - 1, g%y0 + g%ny - 1, fields, 1], &
      g%plain, shape=[g%cells, g%cells, fields, 1])
    call tenon_dtensor_create(g%plain, TENON_FLOAT64, g%owned)
    call create_halo(g, 1, g%halo, g%ghosted)
  end subroutine grid_create

  ! The processes form a grid of rows and columns; their boxes may differ by a cell.
  subroutine decompose(cells, refinement, g)
    integer, intent(in) :: cells, refinement
    type(grid_t), intent(inout) :: g
    integer :: processes, dims(2), row, column
    dims = 0
    call MPI_Comm_rank(g%comm, g%rank)
    call MPI_Comm_size(g%comm, processes)
    call MPI_Dims_create(processes, 2, dims)
    row = g%rank/dims(2)
    column = modulo(g%rank, dims(2))
    g%y0 = 1 + refinement*(cells*row/dims(1))
    g%x0 = 1 + refinement*(cells*column/dims(2))
    g%ny = 1 + refinement*(cells*(row + 1)/dims(1)) - g%y0
    g%nx = 1 + refinement*(cells*(column + 1)/dims(2)) - g%x0
  end subroutine decompose

  ! Creates a halo exchange of `width` layers, and the tensor with them.
  subroutine create_halo(g, width, halo, ghosted)
    type(grid_t), intent(in) :: g
    integer, intent(in) :: width
    type(tenon_linearop), intent(out) :: halo
    type(tenon_dtensor), intent(out) :: ghosted
    type(tenon_layout) :: wide
    integer :: d
    call tenon_layout_create_like(g%plain, wide)
    do d = 1, 2
      call tenon_layout_set_halo(wide, d, width, width, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC)
    end do
    call tenon_layout_set_up(wide)
    call tenon_linearop_create_halo(g%plain, wide, TENON_FLOAT64, halo)
    call tenon_dtensor_create(wide, TENON_FLOAT64, ghosted)
    call tenon_destroy(wide)
  end subroutine create_halo

  subroutine grid_destroy(g)
    type(grid_t), intent(inout) :: g
    call tenon_destroy(g%ghosted)
    call tenon_destroy(g%owned)
    call tenon_destroy(g%halo)
    call tenon_destroy(g%plain)
  end subroutine grid_destroy

  subroutine create_field(g, q)
    type(grid_t), intent(in) :: g
    real(real64), allocatable, intent(out) :: q(:, :, :)
    allocate (q(1 - ghost:g%nx + ghost, 1 - ghost:g%ny + ghost, fields))
    q = 0
  end subroutine create_field

  ! Fields one after another, numbered from `first`.
  subroutine create_fields(g, first, last, q)
    type(grid_t), intent(in) :: g
    integer, intent(in) :: first, last
    real(real64), allocatable, intent(out) :: q(:, :, :, :)
    allocate (q(1 - ghost:g%nx + ghost, 1 - ghost:g%ny + ghost, fields, first:last))
    q = 0
  end subroutine create_fields

  ! Fills the ghost cells of q by such an exchange.
  subroutine fill(g, halo, ghosted, q)
    type(grid_t), intent(in) :: g
    type(tenon_linearop), intent(in) :: halo
    type(tenon_dtensor), intent(in) :: ghosted
    real(real64), intent(inout), target :: q(1 - ghost:, 1 - ghost:, :)
    call tenon_place(g%owned, q(1:g%nx, 1:g%ny, :), array=q)
    call tenon_place(ghosted, q(1:g%nx, 1:g%ny, :), array=q)
    call tenon_linearop_apply(halo, g%owned, ghosted)
  end subroutine fill

  ! Fills one layer of ghost cells of q, as the solver needs them.
  subroutine exchange(g, q)
    type(grid_t), intent(in) :: g
    real(real64), intent(inout), target :: q(1 - ghost:, 1 - ghost:, :)
    call fill(g, g%halo, g%ghosted, q)
  end subroutine exchange

  real(real64) function sum_over_processes(g, local)
    type(grid_t), intent(in) :: g
    real(real64), intent(in) :: local
    call MPI_Allreduce(local, sum_over_processes, 1, MPI_DOUBLE_PRECISION, MPI_SUM, g%comm)
  end function sum_over_processes

  ! Sum over the domain of the products of two fields, cell by cell.
  real(real64) function dot(g, x, y)
    type(grid_t), intent(in) :: g
    real(real64), intent(in) :: x(1 - ghost:, 1 - ghost:, :), y(1 - ghost:, 1 - ghost:, :)
    dot = sum_over_processes(g, sum(x(1:g%nx, 1:g%ny, :)*y(1:g%nx, 1:g%ny, :)))
  end function dot

  ! Root mean square over the domain of the velocity (u, v) of a field, or of an error.
  real(real64) function velocity(g, q)
    type(grid_t), intent(in) :: g
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    velocity = sqrt(sum_over_processes(g, sum(q(1:g%nx, 1:g%ny, 1:2)**2))/real(g%cells, real64)**2)
  end function velocity

  ! Mean of component h.
  real(real64) function mass(g, q)
    type(grid_t), intent(in) :: g
    real(real64), intent(in) :: q(1 - ghost:, 1 - ghost:, :)
    mass = sum_over_processes(g, sum(q(1:g%nx, 1:g%ny, 3)))/real(g%cells, real64)**2
  end function mass

  ! 1.17e-02, as C prints it.
  function scientific(value, digits) result(text)
    real(real64), intent(in) :: value
    integer, intent(in) :: digits
    character(len=digits + 6) :: text
    character(len=16) :: form
    write (form, '(a, i0, a, i0, a)') '(es', digits + 6, '.', digits, 'e2)'
    write (text, form) value
    if (text(digits + 3:digits + 3) == 'E') text(digits + 3:digits + 3) = 'e'
  end function scientific

  ! 0.0170, as C prints it.
  function fixed(value, digits) result(text)
    real(real64), intent(in) :: value
    integer, intent(in) :: digits
    character(len=:), allocatable :: text
    character(len=32) :: form, wide
    write (form, '(a, i0, a)') '(f32.', digits, ')'
    write (wide, form) value
    text = trim(adjustl(wide))
  end function fixed
end module water_grid
