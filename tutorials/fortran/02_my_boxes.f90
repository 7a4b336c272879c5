! SPDX-License-Identifier: BSD-2-Clause
! 02 My boxes: use the decomposition and the arrays that a solver already has.
!
! What you learn: how to create a layout from the boxes that the processes own, in any order and of any sizes; how
! a tensor uses the solver's array in place, with ghost cells and with its dimensions in another order; how to
! handle an error and continue; how to convert a tensor to another layout.
!
!   mpiexec -n 4 fortran_02_my_boxes
module solver
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: nx = 12, ny = 7, ghost = 1
  ! A solver's data: its box in the global grid, and a field with ghost cells.
  integer :: x0, x1, y0, y1
  real(real64), allocatable, target :: u(:, :)
contains
  ! Ranks are numbered along x first, and the first column is narrower.
  subroutine solver_create(comm)
    type(MPI_Comm), intent(in) :: comm
    integer :: rank, processes, px, py, i, j
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, processes)
    px = merge(2, 1, modulo(processes, 2) == 0)
    py = processes/px
    x0 = merge(1, 6, px == 1 .or. modulo(rank, px) == 0)
    x1 = merge(nx, 5, px == 1 .or. modulo(rank, px) == 1)
    y0 = ny*(rank/px)/py + 1
    y1 = ny*(rank/px + 1)/py
    allocate (u(x0 - ghost:x1 + ghost, y0 - ghost:y1 + ghost))
    u = 0
    do j = y0, y1
      do i = x0, x1
        u(i, j) = (i - 1) + 100*(j - 1)
      end do
    end do
  end subroutine solver_create
end module solver

program my_boxes
  use tenon
  use solver
  implicit none
  type(tenon_layout) :: layout
  type(tenon_dtensor) :: x
  real(real64) :: largest
  integer :: rank

  call tenon_options_own_command_line()
  call tenon_initialize('02 My boxes: a solver''s decomposition and arrays'//new_line('a'))
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call solver_create(MPI_COMM_WORLD)

  ! The tensor has dimensions (y, x) here, the array (x, y): `order` says so. Where both have the same order, as in
  ! most programs, it is left out. Boxes are from low to high, both included.
  call tenon_layout_create_from_boxes(MPI_COMM_WORLD, [y0, x0], [y1, x1], layout, shape=[ny, nx])
  ! A view is the text of C: it lists x first, and its dim 0 is dimension 2 of the tensor, x.
  call tenon_view(layout)

  ! No copy: the tensor is the solver's array from now on, and finds its ghost cells around the block.
  call tenon_dtensor_create(layout, TENON_FLOAT64, x)
  call tenon_place(x, u(x0:x1, y0:y1), array=u, order=[2, 1])
  call tenon_dtensor_max_abs(x, largest)
  if (rank == 0) print '(a, i0, a, i0)', 'largest value ', nint(largest), ', expected ', nx - 1 + 100*(ny - 1)

  call ask_too_much()
  call move_to_rows()
  call tenon_destroy(x)
  call tenon_destroy(layout)
  call tenon_finalize()
contains
  ! A halo that is wider than the solver's ghost cells: the error is caught and printed.
  subroutine ask_too_much()
    type(tenon_layout) :: wide
    type(tenon_dtensor) :: y
    character(len=:), allocatable :: message
    integer :: ierr
    call tenon_layout_create_like(layout, wide)
    call tenon_layout_set_halo(wide, 2, 2, 2, TENON_BOUNDARY_ZERO, TENON_BOUNDARY_ZERO)
    call tenon_layout_set_up(wide)
    call tenon_dtensor_create(wide, TENON_FLOAT64, y)
    call tenon_push_error_handler(tenon_return_error_handler)
    call tenon_place(y, u(x0:x1, y0:y1), array=u, order=[2, 1], ierr=ierr)
    if (ierr == TENON_ERR_SHAPE) then
      call tenon_get_last_error(message)
      if (rank == 0) print '(2a)', 'error, as expected: ', message
    end if
    call tenon_pop_error_handler()
    call tenon_destroy(y)
    call tenon_destroy(wide)
  end subroutine ask_too_much

  ! Redistributes the tensor into whole rows of x, as an FFT along x needs them. The adjoint of the operator, which
  ! is its inverse here, moves the values back.
  subroutine move_to_rows()
    type(tenon_partition) :: line
    type(tenon_layout) :: rows
    type(tenon_linearop) :: move
    type(tenon_dtensor) :: y
    real(real64) :: before, after
    integer :: processes
    call MPI_Comm_size(MPI_COMM_WORLD, processes)
    call tenon_partition_create(MPI_COMM_WORLD, [processes], line)
    call tenon_layout_create_sharded(line, [ny, nx], 'S1', rows)
    call tenon_linearop_create_conversion(layout, rows, TENON_FLOAT64, move)
    call tenon_dtensor_create(rows, TENON_FLOAT64, y)
    call tenon_linearop_apply(move, x, y)
    call tenon_dtensor_norm(x, before)
    call tenon_dtensor_norm(y, after)
    if (rank == 0) print '(a, f0.6, a, f0.6)', 'norm in my boxes ', before, ', in whole rows ', after
    call tenon_destroy(y)
    call tenon_destroy(move)
    call tenon_destroy(rows)
    call tenon_destroy(line)
  end subroutine move_to_rows
end program my_boxes
