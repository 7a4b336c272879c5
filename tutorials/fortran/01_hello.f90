! SPDX-License-Identifier: BSD-2-Clause
! 01 Hello: initialise, create a distributed tensor, compute its norm, finalise.
!
! What you learn: how a program begins and ends, how objects are created and destroyed, and what happens after an
! error; that a tensor's values do not depend on the number of processes; how to read options.
!
!   mpiexec -n 4 fortran_01_hello
!   mpiexec -n 4 fortran_01_hello -length 1000
!   mpiexec -n 4 fortran_01_hello -help                     the program's options
!   mpiexec -n 4 fortran_01_hello -tenon_log_view           where time was spent
program hello
  use mpi_f08
  use tenon
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  type(tenon_partition) :: partition
  type(tenon_layout) :: layout
  type(tenon_dtensor) :: x
  integer :: rank, processes, length, low(1), high(1)
  real(real64) :: norm

  ! A call that fails prints the error and ends the program on all processes, unless it is given an argument
  ! ierr, as in `call tenon_initialize(ierr=ierr)`.
  call tenon_options_declare('01_hello', 'length', TENON_OPTION_INT, '100', &
    'number of elements of the tensor')
  call tenon_options_own_command_line()
  call tenon_initialize('01 Hello: a first program'//new_line('a'))
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, processes)
  call tenon_options_get_int('length', length, prefix='-')

  ! A partition is a process grid, and a layout distributes a tensor over it. "S0": dimension 0 of the tensor,
  ! as C counts it, is split over the only axis of the grid.
  call tenon_partition_create(MPI_COMM_WORLD, [processes], partition)
  call tenon_layout_create_sharded(partition, [length], 'S0', layout)
  call tenon_dtensor_create(layout, TENON_FLOAT64, x)

  ! A random number depends only on seed, stream and global index: the tensor is the same on any number of
  ! processes. Boxes are from low to high, both included, with indices from 1.
  call tenon_dtensor_fill_uniform(x, 1, 0, -1.0_real64, 1.0_real64)
  call tenon_dtensor_norm(x, norm)
  call tenon_dtensor_get_box(x, low, high)
  if (rank == 0) then
    print '(a, i0, a, i0, a, f0.10)', 'a tensor of ', length, ' elements on ', processes, &
      trim(merge(' processes', ' process  ', processes > 1))//', norm ', norm
    print '(a, i0, a, i0)', 'process 0 holds elements ', low - 1, ' to ', high - 1
  end if

  ! Destroy every object that you created, in any order: objects keep references to those they need.
  ! tenon_finalize() lists the objects that were not destroyed.
  call tenon_destroy(partition)
  call tenon_destroy(layout)
  call tenon_destroy(x)
  call tenon_finalize()
end program hello
